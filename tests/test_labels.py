"""Names are short, apart from each other, and whole where they fit."""

import pytest

from truecount._wording import display_width, labels


@pytest.mark.parametrize("longest", [8, 14, 25])
def test_no_label_is_wider_than_asked_and_none_is_there_twice(longest: int) -> None:
    names = ["x" * 200, "y" * 100 + "1" + "y" * 99, "y" * 100 + "2" + "y" * 99, "日本語" * 30, "a\nb", 7, True]
    short = labels(names, longest)
    assert max(map(display_width, short)) <= longest
    assert len(set(short)) == len(names)
    assert short[4:] == ["a\\nb", "7", "True"]


def test_short_names_stay_as_they_are() -> None:
    assert labels(["fail", "pass"], 8) == ["fail", "pass"]
