"""Markov chains."""
