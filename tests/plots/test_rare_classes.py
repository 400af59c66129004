"""Many classes of which most are rare: names and shares can be read."""

from dataclasses import replace

import numpy as np
import pytest

from pictures import posterior_of
from truecount import Posterior
from truecount.plots import prevalence
from truecount.plots.canvas import LIGHT, label_rows, new_axes
from truecount.plots.shares import prevalence_data


def _answer(shares: list[float]) -> Posterior:
    made = posterior_of([f"Genus number {at}" for at in range(len(shares))])
    draws = np.random.default_rng(1).dirichlet(1000 * np.array(shares), 400)
    return replace(made, draws=replace(made.draws, prevalence=draws, effective=np.full(len(shares), 400.0)))


def test_rare_classes_are_drawn_on_a_square_root_scale_and_the_caption_says_so() -> None:
    rare = _answer([0.6, 0.2, *[0.02] * 10])
    data = prevalence_data(rare)
    assert data.has_root_scale
    assert "Square-root scale" in " ".join(data.caption)
    ax = prevalence(rare)
    at = ax.transData.transform([(share, 0.0) for share in (0.0, 0.02, data.range[1])])[:, 0]
    assert (at[1] - at[0]) / (at[2] - at[0]) == pytest.approx((0.02 / data.range[1]) ** 0.5)


@pytest.mark.parametrize("shares", [[0.9, 0.05, 0.05], [0.1] * 10], ids=["few classes", "none is rare"])
def test_other_classes_are_drawn_on_a_linear_scale(shares: list[float]) -> None:
    data = prevalence_data(_answer(shares))
    assert not data.has_root_scale
    assert prevalence(_answer(shares)).get_xscale() == "linear"


def test_long_names_of_several_words_take_two_lines_where_a_row_is_high_enough() -> None:
    names = ["Thalassiosira pseudogracilis", "x" * 40]
    ax = new_axes(3.6, 1.7, LIGHT)
    label_rows(ax, names, LIGHT, room=1.4, may_break=True)
    first, second = (label.get_text() for label in ax.get_yticklabels())
    assert first == "Thalassiosira\npseudogracilis"
    assert "…" in second
    low = new_axes(3.6, 0.6, LIGHT)
    label_rows(low, names, LIGHT, room=1.4, may_break=True)
    assert "\n" not in low.get_yticklabels()[0].get_text()
