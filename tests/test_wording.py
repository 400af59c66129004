"""Names that were perhaps meant, and names and shares in a sentence."""

import pytest

from truecount._wording import listed, listed_classes, nearest, percent, quoted, span


@pytest.mark.parametrize(
    ("wanted", "known", "meant"),
    [
        ("humn", ["human", "verdict"], "human"),
        ("HUMAN", ["Human"], "Human"),
        ("goood", ["bad", "good"], "good"),
        ("emmu", ["emu", "gnu"], "emu"),
        ("good", ["bad"], None),
        ("bbes", ["bbse", "acc"], "bbse"),
        ("nope", ["m_none", "na"], None),
        ("judge", ["human", "verdict"], None),
    ],
)
def test_only_a_near_name_was_perhaps_meant(wanted: str, known: list[str], meant: str | None) -> None:
    assert nearest(wanted, known) == meant


def test_a_long_list_is_cut() -> None:
    assert quoted(["a", "b"]) == "'a', 'b'"
    assert quoted(map(str, range(40))).endswith("'29' and 10 more")


def test_names_in_a_sentence() -> None:
    assert listed(["a"]) == "a"
    assert listed([1, 2]) == "1 and 2"
    assert listed([f"c{i}" for i in range(12)]) == "c0, c1, c2, c3, c4, c5, c6, c7, c8, c9 and 2 more"
    assert listed(["x" * 99]) == "x" * 60


def test_classes_that_are_numbers_are_called_classes() -> None:
    assert listed_classes([-1, 1]) == "class -1 and class 1"
    assert listed_classes(["+1", "0.5", "1e3"]) == "class +1, class 0.5 and class 1e3"
    assert listed_classes(["1.2.3", "nan", "tie", True]) == "1.2.3, nan, tie and True"


def test_shares_in_a_sentence() -> None:
    assert percent(0.5) == "50.0 %"
    assert percent(0.00003) == "0.003 %"
    assert span(0.05, 0.5) == "5 – 50.0 %"
