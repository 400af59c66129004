"""Every picture is drawn: nothing global changes, no word leaves the figure or lies on another."""

import warnings
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from pictures import HARD, LONG_NAMES, clashes, compared, covered, posterior_of
from truecount import Posterior, plots
from truecount.errors import InputError
from truecount.plots.canvas import MARKERS

PICTURES: dict[str, Callable[..., Any]] = {
    "prevalence": plots.prevalence,
    "density": plots.density,
    "confusion": plots.confusion,
    "predictive": plots.predictive,
    "pair": plots.pair,
    "ternary": plots.ternary,
    "trace": plots.trace,
    "rank": plots.rank,
    "methods": lambda posterior, **options: plots.methods(compared(posterior), **options),
    "contraction": plots.contraction,
    "prior_sensitivity": lambda posterior, **options: plots.prior_sensitivity(
        {"flat": posterior, "p" * 200: posterior}, **options
    ),
    "coverage": lambda posterior, **options: plots.coverage(covered(posterior), **options),
}
NEEDS_CHAINS = ("trace", "rank")


def fitting(name: str, case: str) -> Posterior:
    if name == "ternary" and case in ("two", "edge"):
        pytest.skip("a triangle needs three classes")
    if name in NEEDS_CHAINS:
        return posterior_of(LONG_NAMES if case == "long" else ["a", "b", "c"], chains=4)
    return HARD[case]()


def test_every_picture_is_listed_here() -> None:
    """Those of groups and of plans take other answers, and have tests of their own."""
    others = {"groups", "caterpillar", "trend", "facets", "ranks", "pairs", "plan"}
    pictures = {name for name in plots.__all__ if name.islower()}
    assert pictures - others == PICTURES.keys()
    page = (Path(__file__).parents[2] / "docs" / "guides" / "pictures.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in page for name in pictures)


@pytest.mark.parametrize("case", HARD)
@pytest.mark.parametrize("name", PICTURES)
def test_no_word_leaves_the_figure_or_lies_on_another(name: str, case: str) -> None:
    if case in ("edge", "sixty") and name in NEEDS_CHAINS:
        pytest.skip("looks the same in every case")
    assert list(clashes(PICTURES[name](fitting(name, case)))) == []


@pytest.mark.parametrize("name", LONG_NAMES)
def test_no_name_is_too_long_for_a_trace(name: str) -> None:
    ax = plots.trace(fitting("trace", "long"), name=name)
    assert list(clashes(ax)) == []
    assert f"Share of {name[:10]}" in " ".join(ax.get_xlabel().split())


def test_clashes_are_seen() -> None:
    ax = plots.prevalence(HARD["two"]())
    ax.annotate("fail", (0, 0), xycoords=ax.get_yaxis_transform(), ha="right")
    ax.annotate("far", (5, 0), xycoords="axes fraction", annotation_clip=False).set_in_layout(False)
    assert len(list(clashes(ax))) == 2


@pytest.mark.parametrize("name", PICTURES)
def test_given_axes_are_used_and_nothing_global_changes(name: str) -> None:
    before = dict(mpl.rcParams)
    ax = Figure().subplots()
    assert PICTURES[name](fitting(name, "five"), ax=ax) is ax
    own = PICTURES[name](fitting(name, "five"))
    assert own.figure is not ax.figure
    assert dict(mpl.rcParams) == before
    pyplot = mpl.__dict__.get("pyplot")
    assert pyplot is None or pyplot.get_fignums() == []


@pytest.mark.parametrize("name", PICTURES)
def test_captions_name_units_and_levels(name: str) -> None:
    caption = PICTURES[name](fitting(name, "five")).get_xlabel()
    unit = {"predictive": "items", "confusion": "%", "trace": "draw", "rank": "rank"}.get(name, "%")
    assert unit in caption
    if name in ("prevalence", "confusion", "predictive", "prior_sensitivity"):
        assert "95 %" in " ".join(caption.split())
    if name == "methods":
        assert "90 %" in " ".join(caption.split())


@pytest.mark.parametrize("name", PICTURES)
def test_themes_change_every_ground_and_no_arrays(name: str) -> None:
    posterior = fitting(name, "five")
    light, dark = (PICTURES[name](posterior, theme=theme) for theme in ("light", "dark"))
    assert light.get_facecolor() != dark.get_facecolor()
    for one, other in zip(light.lines, dark.lines, strict=True):
        np.testing.assert_array_equal(one.get_xydata(), other.get_xydata())


@pytest.mark.parametrize("name", ["prevalence", "predictive", "contraction"])
def test_marks_of_classes_are_alike_and_no_edge_eats_them(name: str) -> None:
    posterior = posterior_of(list("abcdefg"))
    marks = [line for line in PICTURES[name](posterior).lines if line.get_markersize() == 6.5]
    colors = [plots.LIGHT.color(place) for place in range(7)]
    assert [mark.get_markeredgecolor() for mark in marks] == colors == [mark.get_color() for mark in marks]
    assert [mark.get_marker() for mark in marks] == list(MARKERS)


def test_dark_axes_are_drawn_in_the_dark_unless_told() -> None:
    ax = Figure().subplots()
    ax.set_facecolor("#111111")
    plots.prevalence(HARD["two"](), ax=ax)
    assert ax.get_yticklabels()[0].get_color() == plots.DARK.ink
    plots.prevalence(HARD["two"](), ax=Figure().subplots(), theme=plots.LIGHT).get_yticklabels()
    with pytest.raises(InputError, match="theme is 'blue'"):
        plots.prevalence(HARD["two"](), theme="blue")  # type: ignore[arg-type]


def test_names_are_never_formulas() -> None:
    ax = plots.prevalence(HARD["long"]())
    ax.figure.draw_without_rendering()
    assert [label.get_text() for label in ax.get_yticklabels()][-1] == "$a_b$"
    assert not any(label.get_parse_math() for label in ax.get_yticklabels())


@pytest.mark.parametrize("name", ["methods", "prior_sensitivity", "coverage"])
def test_a_legend_names_every_class_and_its_own_mark(name: str) -> None:
    ax = PICTURES[name](posterior_of(["_fail", "__", "pass"]))
    legend = ax.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["_fail", "__", "pass"]
    colors = [plots.LIGHT.color(position) for position in range(3)]
    assert [handle.get_color() for handle in legend.legend_handles] == colors


def test_a_notebook_shows_axes_of_their_own() -> None:
    assert plots.prevalence(HARD["two"]())._repr_png_().startswith(b"\x89PNG")


def test_scripts_that_the_font_lacks_look_for_another() -> None:
    ax = plots.prevalence(posterior_of(["日本", "plain"]))
    families = [label.get_fontfamily() for label in ax.get_yticklabels()]
    assert families[0][: len(families[1])] == families[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ax.figure.draw_without_rendering()


def test_what_is_no_axes_is_refused() -> None:
    with pytest.raises(InputError, match="ax is of type Figure"):
        plots.prevalence(HARD["two"](), ax=Figure())  # type: ignore[arg-type]


@pytest.mark.parametrize("case", ["two", "five", "long"])
@pytest.mark.parametrize("names", [*pairwise(PICTURES), ("coverage", "prevalence")], ids="-".join)
def test_pictures_beside_each_other_keep_apart(names: tuple[str, str], case: str) -> None:
    axes = Figure(figsize=(14, 6), layout="constrained").subplots(1, 2)
    for name, ax in zip(names, axes, strict=True):
        PICTURES[name](fitting(name, case), ax=ax)
    assert list(clashes(*axes)) == []


@pytest.mark.parametrize("width", [3.0, 7.0])
def test_many_classes_in_small_axes_stay_apart(width: float) -> None:
    ax = Figure(figsize=(width, 4.5), layout="constrained").subplots()
    plots.density(HARD["sixty"](), ax=ax)
    assert list(clashes(ax)) == []
