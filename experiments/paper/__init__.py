"""The experiments of Ziegler & Czyż, *Bayesian Quantification with Black-Box Estimators*, each with a verdict.

    python -m experiments.paper                     everything: tables, figures and RESULTS.md
    python -m experiments.paper categorical cells   some of it
    python -m experiments.paper --quick             a minute: the main claims, asserted
    python -m experiments.paper --report            RESULTS.md and the figures again, from the tables

An experiment is a module with a `Config`, and with `run`, which makes tables of it; `claims` and `figures` are
functions of the tables alone, so every verdict can be read off a CSV file in `results`.
"""
