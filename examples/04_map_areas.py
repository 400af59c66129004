"""A map of land cover makes mistakes; this says how many hectares of each cover there really are.

Pixels were picked for a visit stratified by what the map says of them, as surveys of maps are. They tell how many
of the pixels mapped as forest are forest, P(class | output), and not how the map treats forest: the design says so.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import truecount as tc

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
HECTARES_A_PIXEL = 0.09  # 30 m by 30 m

COVERS = ["crops", "forest", "water"]
VISITED = [[66, 9, 1], [8, 130, 2], [1, 1, 72]]  # what it is in the rows, what the map says in the columns
MAPPED = [2_200_000, 6_700_000, 310_000]  # pixels of each on the map

counts = tc.Counts(VISITED, MAPPED, classes=COVERS)
posterior = tc.infer(counts, tc.ByPrediction(), seed=0)
area = posterior.prevalence * sum(MAPPED) * HECTARES_A_PIXEL
low, high = np.quantile(area, [0.025, 0.975], axis=0)
for place, cover in enumerate(COVERS):
    mapped = MAPPED[place] * HECTARES_A_PIXEL
    print(f"{cover:7} mapped {mapped:8,.0f} ha, really {area[:, place].mean():8,.0f} ha", end="")
    print(f" (95 % interval {low[place]:,.0f} – {high[place]:,.0f})")

more = posterior.probability(lambda share: share["forest"] > MAPPED[1] / sum(MAPPED))
print(f"There is more forest than mapped with probability {more:.0%}.")
tc.plots.prevalence(posterior).figure.savefig(folder / "areas.png", dpi=150)
print(f"Written: {folder / 'areas.png'}")
