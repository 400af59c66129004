"""Of many classes the largest have a row, and the others one together: shares still add up to one."""

import numpy as np
import pytest

import truecount as tc
from made_posterior import made_posterior
from truecount.plots.shares import prevalence_data
from truecount.results.summary import MOST_ROWS, SHOWN, Look, folded_summary

LOOK = Look(level=0.9)


def many(number: int) -> tc.Posterior:
    names = [f"class {place}" for place in range(number)]
    return made_posterior(counts=tc.Counts(np.eye(number, dtype=int) * 30 + 1, np.arange(1, number + 1), classes=names))


def test_few_classes_are_as_they_were():
    posterior = many(MOST_ROWS)
    summary, places = folded_summary(posterior, LOOK)
    assert places == tuple(range(MOST_ROWS))
    assert summary.classes == posterior.classes
    assert "others" not in str(posterior)


def test_the_largest_come_first_and_the_rest_is_one_row():
    posterior = many(60)
    summary, places = folded_summary(posterior, LOOK)
    assert len(summary.classes) == len(places) == SHOWN + 1
    assert (np.diff(summary.mean[:-1]) <= 0).all()
    assert summary.classes[-1] == "30 others"
    assert summary.mean.sum() == pytest.approx(1)
    assert summary.counted.sum() == pytest.approx(1)
    rest = posterior.prevalence[:, [place for place in range(60) if place not in places]].sum(axis=1)
    assert summary.interval[-1] == pytest.approx(np.quantile(rest, [0.05, 0.95]))
    assert summary.sd[-1] == pytest.approx(rest.std(ddof=1))


def test_table_picture_and_page_show_the_same_rows_and_say_so(tmp_path):
    posterior = many(60)
    text = str(posterior)
    assert "The 30 largest of 60 classes are shown, and the others together; JSON, CSV and to_frame() have all." in text
    data = prevalence_data(posterior)
    assert data.classes[-1] == "30 others"
    assert len(data.mean) == len(data.positions) == len(data.numbers) == SHOWN + 1
    assert data.range[1] < 0.1 < data.mean[-1]  # the others leave room for the classes
    assert data.caption[-1] == "Arrow: the others together lie further right."
    tc.report(posterior, tmp_path / "page.html")
    assert "30 others" in (tmp_path / "page.html").read_text()
    assert len(posterior.to_dict()["classes"]) == 60


def test_classes_that_are_asked_for_are_all_shown():
    posterior = many(60)
    assert len(posterior.to_text(classes=posterior.by_size()).splitlines()) == 62
    assert len(prevalence_data(posterior, classes=posterior.by_size()).classes) == 60
