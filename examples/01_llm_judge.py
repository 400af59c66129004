"""A language model judged 1,500 answers; people read 300 answers of the release before. This says how many pass."""

import sys
import tempfile
from pathlib import Path

import truecount as tc
from truecount.examples import JUDGE

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())

# Rows without a human verdict are the population; rows with one show what the judge does.
counts = tc.count_table(JUDGE, label="human", prediction="verdict")
posterior = tc.infer(counts, seed=0)
print(posterior)

at_least_half = posterior.probability(lambda share: share["pass"] >= 0.5)
print(f"At least half pass with probability {at_least_half:.0%}.")

# One page to pass on, and one picture for the slides.
tc.report(posterior, folder / "judge.html", title="How many answers of the new release pass?")
tc.plots.prevalence(posterior).figure.savefig(folder / "judge.svg")
print(f"Written: {folder / 'judge.html'} and {folder / 'judge.svg'}")
