"""Colours stay apart for every kind of eye and stand out from their ground."""

from itertools import combinations

import numpy as np
import pytest

from truecount.plots import DARK, LIGHT, Theme
from truecount.plots.canvas import MARKERS, marker
from truecount.plots.classifier import FULL

TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
FROM_CONES = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
"""Linear sRGB to Oklab (Ottosson 2020), in two steps with a cube root between."""
EYES = {
    "all cones": np.eye(3),
    "no long": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "no medium": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "no short": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
"""What each eye sees of linear sRGB: Machado, Oliveira & Fernandes (2009), severity 1."""
APART = 0.08
"""Distance in Oklab; two colours one just-noticeable step apart are about 0.02 from each other."""


def linear(color: str) -> np.ndarray:
    values = np.array([int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def seen(color: str, eye: np.ndarray) -> np.ndarray:
    return FROM_CONES @ np.cbrt(TO_CONES @ np.clip(eye @ linear(color), 0, 1))


def contrast(one: np.ndarray, other: np.ndarray) -> float:
    """WCAG's, of linear colours."""
    light, dark = sorted((float(color @ [0.2126, 0.7152, 0.0722]) + 0.05 for color in (one, other)), reverse=True)
    return light / dark


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("eye", EYES)
def test_classes_look_different(theme: Theme, eye: str) -> None:
    colors = [seen(color, EYES[eye]) for color in theme.classes]
    assert min(float(np.linalg.norm(one - other)) for one, other in combinations(colors, 2)) > APART


def test_red_and_green_of_one_brightness_would_be_noticed() -> None:
    one, other = (seen(color, EYES["no medium"]) for color in ("#b55b5b", "#7b7b3c"))
    assert np.linalg.norm(one - other) < APART


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_marks_and_words_stand_out_from_the_ground(theme: Theme) -> None:
    paper = linear(theme.paper)
    assert min(contrast(linear(color), paper) for color in theme.classes) >= 3
    assert contrast(linear(theme.soft), paper) >= 4.5
    assert contrast(linear(theme.ink), paper) >= 7


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_ink_is_readable_on_the_fullest_cell(theme: Theme) -> None:
    mixed = [
        FULL * int(theme.heat[place : place + 2], 16) + (1 - FULL) * int(theme.paper[place : place + 2], 16)
        for place in (1, 3, 5)
    ]
    cell = "#" + "".join(f"{round(value):02x}" for value in mixed)
    assert contrast(linear(theme.ink), linear(cell)) >= 4.5


def test_colour_and_marker_together_repeat_late() -> None:
    looks = {(LIGHT.color(position), marker(position)) for position in range(42)}
    assert len(looks) == 42 == len(LIGHT.classes) * len(MARKERS)
