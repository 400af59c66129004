"""The first block of code of each page runs as printed, and tables show what was measured."""

import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import fields, replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import t

import truecount as tc
from made_scores import shifted_scores

DOCS = Path(__file__).parent.parent / "docs"


def run_first_block(page: str) -> dict[str, Any]:
    block = re.findall(r"```python\n(.*?)```", (DOCS / "guides" / page).read_text(encoding="utf-8"), flags=re.DOTALL)[0]
    names: dict[str, Any] = {}
    exec(compile(block, page, "exec"), names)  # noqa: S102
    return names


def test_the_map_s_area_is_as_printed(capsys: pytest.CaptureFixture[str]) -> None:
    names, page = run_first_block("designs.md"), (DOCS / "guides" / "designs.md").read_text(encoding="utf-8")
    assert f"```text\n{capsys.readouterr().out}```" in page
    [said] = re.findall(r"Read as label shift the same table gives ([0-9.]+) %", page)
    assert said == f"{100 * tc.infer(names['counts']).mean[0]:.2f}"


def test_the_quantifier_s_block_runs_without_a_finding() -> None:
    pytest.importorskip("sklearn")
    names = run_first_block("scores.md")
    assert names["quantifier"].posterior(names["X_new"]).findings == ()


def test_scores_of_shifted_classes_pass_the_page_s_test_of_label_shift() -> None:
    """Shares that differ are an info, and no failure: the page's assertion is about label shift alone."""
    pytest.importorskip("sklearn")
    page = (DOCS / "guides" / "scores.md").read_text(encoding="utf-8")
    [test] = re.findall(r"^found = tc.check\(scores\)\n.*\nassert .*$", page, re.MULTILINE)
    rng = np.random.default_rng(1)
    names = {"tc": tc, "scores": shifted_scores(rng, labeled_prevalence=[0.5, 0.5], prevalence=[0.2, 0.8], items=300)}
    exec(compile(test, "scores.md", "exec"), names)  # noqa: S102
    assert "designs-disagree" in [finding.code for finding in names["found"].findings]


def test_the_recalibrated_classifier_s_block_runs() -> None:
    pytest.importorskip("sklearn")
    names = run_first_block("recalibration.md")
    assert names["corrected"].interval(0.95).shape == (500, 2, 2)


def test_pages_show_what_was_measured_last() -> None:
    command = [sys.executable, DOCS.parent / "benchmarks" / "pages.py", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"run benchmarks/pages.py: {done.stdout}"


def test_the_blocks_of_the_estimators_run_in_their_order(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sklearn")
    page = (DOCS / "guides" / "estimators.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)[:2]:
        exec(compile(block, "estimators.md", "exec"), names)  # noqa: S102
    assert isinstance(names["scores"], tc.Scores)
    assert capsys.readouterr().out.count("share") == 3


def test_what_wrong_labels_do_to_the_example_is_as_printed() -> None:
    page = (DOCS / "guides" / "assumptions.md").read_text(encoding="utf-8")
    example = Path(tc.__file__).parent / "examples" / "judge.csv"
    found = tc.check(tc.count_table(example, label="human", prediction="verdict"), label_error=0.05)
    row = found.tables["label_error"][0]
    assert f"“{row['class']}” would have {100 * row['lowest']:.1f} % to {100 * row['highest']:.1f} %" in page


MINUS = "\N{MINUS SIGN}"
NUMBER = re.compile(rf"(?:[<>] )?[-+{MINUS}]?[0-9][0-9,.]*")
PARTS = 16
"""Into which the draws of an answer are split, to see how far its printed numbers vary."""
FALSE_ALARMS = 1e-4
"""How often right draws differ from a page's by more than is allowed."""


def words(line: str) -> list[str]:
    return NUMBER.sub("#", line).split()


def numbers(line: str) -> np.ndarray:
    found = [each.strip("<> ,.").replace(",", "").replace(MINUS, "-") for each in NUMBER.findall(line)]
    return np.array(found, dtype=float)


def digits(line: str) -> np.ndarray:
    """The value of the last digit of each number."""
    return np.array([10.0 ** -len(each.strip(" ,.").partition(".")[2]) for each in NUMBER.findall(line)])


def part_of(answer: Any, number: int) -> Any:
    """Return the answer from one sixteenth of its draws, two chains of thirty-two, as far converged as all are."""
    draws, size = answer.draws, len(answer.draws.prevalence) // PARTS
    part = slice(number * size, (number + 1) * size)
    chains = None if draws.chains is None else max(draws.chains // PARTS, 1)
    if isinstance(answer, tc.Posterior):
        return replace(answer, draws=replace(draws, prevalence=draws.prevalence[part], chains=chains))
    arrays = {each.name: getattr(draws, each.name) for each in fields(draws)}
    some = {name: values[part] for name, values in arrays.items() if isinstance(values, np.ndarray)}
    found = replace(answer, draws=replace(draws, **some, chains=chains))
    found.__dict__["convergence"] = answer.convergence
    return found


def printed_by(page: str, infer: Callable[..., Any]) -> list[tuple[str, str]]:
    """Run the page's blocks that show what they print; return lines as printed and as written there."""
    text, names, lines = (DOCS / "guides" / page).read_text(encoding="utf-8"), {}, []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tc, "infer", infer)
        for block, written in re.findall(r"```python\n((?:(?!```).)*)```\n\n```text\n(.*?)```", text, flags=re.DOTALL):
            with redirect_stdout(StringIO()) as shown:
                exec(compile(block, page, "exec"), names)  # noqa: S102
            lines += zip(shown.getvalue().splitlines(), written.splitlines(), strict=True)
    return [pair for pair in lines if "effective sample size" not in pair[0] and "Without a change" not in pair[0]]


@pytest.mark.parametrize("page", ["groups.md", "scores.md"])
def test_what_a_page_prints_is_as_printed(page: str) -> None:
    """Words are the same. Numbers are those of other draws of the same posterior, by batch means of the draws here."""
    infer, answers = tc.infer, []

    def kept(*arguments: Any, **options: Any) -> Any:
        answers.append(infer(*arguments, **options))
        return answers[-1]

    lines = printed_by(page, kept)
    parts = []
    for at in range(PARTS):
        some = iter([part_of(answer, at) for answer in answers])
        parts.append([line for line, _ in printed_by(page, lambda *_, some=some, **__: next(some))])
    compared = sum(len(numbers(line)) for line, _ in lines)
    bound = t.ppf(1 - FALSE_ALARMS / 2 / compared, PARTS - 1)
    for (line, written), others in zip(lines, zip(*parts, strict=True), strict=True):
        assert words(line) == words(written)
        spread = np.std([numbers(other) for other in others if words(other) == words(line)], axis=0, ddof=1)
        allowed = bound * np.sqrt(2 / PARTS) * spread + digits(line)
        assert (np.abs(numbers(line) - numbers(written)) <= allowed).all(), (line, written, allowed)
