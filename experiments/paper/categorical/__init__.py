"""Section 3.1 and the appendix: point estimates from a simulated black box, in six panels."""

from experiments.paper.categorical.claims import claims
from experiments.paper.categorical.figures import figures
from experiments.paper.categorical.simulation import FULL, QUICK, Config, run

TITLE = "Categorical experiments (section 3.1, appendix C)"
NOTE = """
The paper's table of defaults (N = 1000, N′ = 500, r = 0.7, q = 0.85, L = K = 5), 100 repetitions of each setting. BBSE
is raw, IR restricted to the simplex. Two misprints are read as meant: for K < L it is the rows K + 1 … L of φ that are
1/K, and it is K ≥ L where errors are small. The paper does not print its values of q′; those here are ours. Boxes: the
middle half of the errors, and a line through the middle nine tenths. Posterior means are of some 500 effective draws.
"""

__all__ = ["FULL", "NOTE", "QUICK", "TITLE", "Config", "claims", "figures", "run"]
