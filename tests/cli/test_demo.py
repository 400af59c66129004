"""The demo answers, and what it says about the answer is true."""

import re
from pathlib import Path

from command import run
from truecount import infer
from truecount.counts.files import count_files
from truecount.examples import JUDGE
from truecount.examples.make_judge import PASS_RATE


def test_demo_explains_the_numbers_of_its_table(tmp_path: Path) -> None:
    done = run("demo", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    row = re.search(r"^pass +([\d.]+) % +([\d.]+) % +([\d.]+) . +([\d.]+) %$", done.stdout, re.MULTILINE)
    assert row
    words = " ".join(done.stdout.split())
    counted, mean, low, high = row.groups()
    assert f"the judge passes {counted} % of" in words
    assert f"undone, {mean} % pass" in words
    assert f"between {low} % and {high} % pass" in words
    assert "of the 109 answers that people failed, it passed 42" in words
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_shipped_example_misleads_whoever_only_counts() -> None:
    counts = count_files(JUDGE, label="human", prediction="verdict")
    posterior = infer(counts)
    row, truth = counts.classes.index("pass"), PASS_RATE["v2"]
    low, high = posterior.interval()[row]
    assert counts.counted is not None
    assert low < truth < high < counts.counted[row]
    assert abs(posterior.mean[row] - truth) < 0.2 * abs(counts.counted[row] - truth)
