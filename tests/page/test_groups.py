"""The page of groups says what a manager reads: one class, where it is largest, what changed, what to know."""

import re
from dataclasses import replace
from html import unescape
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import truecount as tc
from made_groups import made_answer, models, refused, weeks
from truecount._advice import Door
from truecount.diagnostics.hierarchy import _few_groups, _few_studies
from truecount.page.groups import _assumptions, render_groups
from truecount.results.finding import in_words


def page(answer: tc.GroupPosterior, **questions: object) -> str:
    return render_groups(answer, answer.summary(questions=tc.Questions(**questions)))


def text_of(html: str) -> str:
    return " ".join(
        re.sub(r"<[^>]+>", " ", re.sub(r"<style>.*?</style>|<svg.*?</svg>", "", html, flags=re.DOTALL)).split()
    )


def test_the_page_of_models_says_which_is_largest_and_compares_all_pairs() -> None:
    shown = text_of(page(models()))
    assert "Of 4 groups, the true share of “pass” runs from about" in shown
    assert "D has the largest with a probability of > 0.999" in unescape(shown)
    assert "Compared with each other" in shown
    assert "Ranks by the share of “pass”" in shown
    assert "have an output that is no class (unsure)" in shown
    assert "fail" not in shown.partition("How it was computed")[0]


def test_a_baseline_replaces_the_pairs() -> None:
    shown = text_of(page(models(), baseline="A"))
    assert "Compared with the baseline" in shown
    assert shown.count("− A") >= 3
    assert "D − B" not in shown


def test_the_page_of_weeks_says_how_the_share_went_and_what_changed() -> None:
    shown = text_of(page(weeks()))
    assert "From 2024-01-01 to 2024-02-12, the true share of “pass” went from about" in shown
    assert "Alert: The share of pass changed" in shown
    assert "How the share of “pass” changed" in shown
    assert "Ranks" not in shown
    assert re.search("\N{MINUS SIGN}[0-9]", shown)
    assert not re.search(" -[0-9]", shown.partition("How it was computed")[0])


def test_changes_are_not_told_of_groups_without_times() -> None:
    assert "changed" not in text_of(page(models())).partition("How it was computed")[0]


def test_findings_stand_on_the_page_and_a_serious_one_above_all() -> None:
    findings = [tc.Finding("not-converged", "serious", "The chains <disagree>.", {}, "Draw again.")]
    html = page(models(findings=findings))
    assert "Not to be used as it stands: The chains &lt;disagree&gt;." in html
    assert "<strong>What to do:</strong> Draw again." in html


@pytest.mark.parametrize("door", ["python", "estimate"])
def test_advice_on_the_page_names_no_option_and_no_keyword(door: Door) -> None:
    answer = models()
    few = _few_groups(answer.data, SimpleNamespace(spread=np.ones((1, 1))))  # type: ignore[arg-type]
    assert few is not None
    shown = text_of(page(replace(answer, findings=in_words([few], door))))
    assert "Compare with an answer in which no group borrows from the others." in shown
    assert "--independent" not in shown
    assert "spread=, or" not in shown


def test_the_python_on_the_page_gives_the_same_draws() -> None:
    data = tc.Groups([[40, 10], [5, 45]], {"a": [30, 20], "b": [25, 25], "c": [20, 30]}, ["no", "yes"])
    model = tc.LabelShift(tc.Prior(2.0, "sparse"), groups=tc.Pooled(spread=0.5))
    answer = tc.infer(data, model, engine=tc.Auto(effective_draws=100), seed=4)
    html = page(answer)
    (code,) = re.findall(r'<code id="python">(.*?)</code>', html, flags=re.DOTALL)
    names: dict[str, object] = {}
    exec(unescape(code).replace("print(answer)", ""), names)  # noqa: S102
    again = names["answer"]
    assert isinstance(again, tc.GroupPosterior)
    assert (again.prevalence == answer.prevalence).all()


@pytest.mark.parametrize("number", [2, 72, pytest.param(315, marks=pytest.mark.slow)])
def test_any_number_of_groups_makes_a_page_whose_pictures_are_sound(number: int) -> None:
    answer = made_answer({f"g{at}": [0.5 - at / 1000, 0.5 + at / 1000] for at in range(number)})
    html = page(answer)
    pattern = r'<svg role="img".*?aria-labelledby="(\w+)-title[^>]*>(.*?)</svg>'
    for name, picture in re.findall(pattern, html, flags=re.DOTALL):
        ET.fromstring(f"<svg xmlns:xlink='x'>{picture}</svg>")  # noqa: S314 - our own
        assert f'id="{name}-title"' in picture
    assert ("more groups" in html) == (number > 72)


def test_names_are_escaped_wherever_they_stand() -> None:
    html = page(made_answer({"<b>x</b>": [0.5, 0.5], "y & z": [0.4, 0.6]}, classes=["<i>", "&"], by=["<u>"]))
    assert "<b>x" not in html
    assert "<i>" not in html
    assert "<u>" not in html


def test_report_writes_the_page_of_groups(tmp_path) -> None:
    tc.report(models(), tmp_path / "page.html", title="Ours", questions=tc.Questions(of="fail", baseline="B"))
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<h1>Ours</h1>" in html
    assert "the true share of “fail”" in html


def test_a_refused_answer_has_a_page_without_numbers() -> None:
    html = page(refused())
    assert "No answer" in html
    assert "<svg" not in html


def test_two_grouping_columns_have_a_picture_for_each_value_of_one() -> None:
    regions = [(region, age, at / 50) for at, region in enumerate("NSE") for age in ("old", "young")]
    cells = {(region, age): [0.6 - step, 0.4 + step] for region, age, step in regions}
    html = page(made_answer(cells, by=["region", "age"]))
    assert re.findall(r'id="(shares-\d)-title"', html) == ["shares-0", "shares-1", "shares-2"]
    assert "region: N. Marks: posterior mean." in text_of(html)
    many = {(number, age): [0.5, 0.5] for number in range(30) for age in ("old", "young")}
    assert re.findall(r'id="(shares[-\d]*)-title"', page(made_answer(many, by=["region", "age"]))) == ["shares"]


@pytest.mark.parametrize("studies", [3, 4])
def test_few_studies_have_a_table_of_priors_of_their_spread(studies: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wider the prior, the wider the answer: each column has a scale of its own."""

    def infer_groups(data, model, engine, origin):
        again = made_answer(shares, data=data, model=model, strength=100 / model.confusion.spread)
        return replace(again, origin=origin)

    monkeypatch.setattr("truecount.api.groups.infer_groups", infer_groups)
    shares = {"a": [0.5, 0.5], "b": [0.4, 0.6], "c": [0.45, 0.55]}
    data = tc.Groups({study: [[40, 10], [5, 45]] for study in range(studies)}, {group: [50, 50] for group in shares})
    model = tc.LabelShift(groups=tc.Pooled(), confusion=tc.Varying())
    answer = made_answer(shares, data=data, model=model)
    found = _few_studies(data, model)
    assert found is not None
    html = page(replace(answer, findings=(found,)))
    assert "How the answer depends on the prior of the studies’ spread" in unescape(html)
    assert "How the answer depends" not in unescape(page(answer))
    sensitivity = tc.spread_sensitivity(answer)
    assert sensitivity.scales == (0.25, 0.5, 1.0)
    widths = np.ptp(sensitivity.interval, axis=2)
    assert (widths[0] < widths[1]).all()
    assert (widths[1] < widths[2]).all()
    assert (sensitivity.mean[1] == answer.mean[:, 1]).all()
    assert "scale 0.25" in repr(sensitivity)
    assert "scale 0.5 (used)" in repr(sensitivity)
    assert sensitivity.sentence in text_of(html)
    times = widths[2] / widths[0]
    most = sensitivity.groups[times.argmax()]
    assert f"{times.min():.1f} to {times.max():.1f} times as wide under the prior of scale 1 " in sensitivity.sentence
    assert sensitivity.sentence.endswith(f"most of all that of {most}.")
    assert "The classifier differs between groups as it does between studies." in text_of(html)
    assert "The classifier treats each class alike" not in text_of(html)


def test_the_spread_of_studies_is_not_varied_where_there_is_none() -> None:
    with pytest.raises(tc.InputError, match="only a confusion that varies between studies has such a spread"):
        tc.spread_sensitivity(models())


def test_the_page_has_the_confusion_matrix_or_the_rows_around_which_it_varies() -> None:
    answer = models()
    one = text_of(page(answer))
    assert "Confusion matrix: the outputs of each class" in one
    assert "around which studies and groups vary" not in one
    varying = replace(answer.draws, common_rows=answer.draws.confusion)
    assert "around which studies and groups vary" in text_of(page(replace(answer, draws=varying)))


def test_labels_that_are_a_random_sample_are_an_assumption() -> None:
    """In place of labels that were chosen by class."""
    by_class, of_group = (
        [claim for claim, _ in _assumptions(tc.LabelShift(confusion=tc.Varying(random_labels=each)))]
        for each in (False, True)
    )
    assert by_class[1] == "Labelled items are a random sample of their class, and were not chosen by their output."
    assert of_group == [by_class[0], "Labelled items of a group are a random sample of that group.", *by_class[2:]]
