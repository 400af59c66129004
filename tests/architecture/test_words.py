"""Plain English in the words of the field: private words are gone from the source, the documentation and the README."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import truecount

SOURCE = Path(truecount.__file__).parent
PROJECT = SOURCE.parents[1]
INSTEAD = {
    r'"""Gives? ': "Return",
    r"\bsummits?\b|\bhills?\b|\buphill\b": "mode, log density",
    r"\bsettled?\b": "converged",
    r"\bhabits?\b": "misclassification rates",
    r"these very items|the very items": "this finite sample, the same items",
    r"\bunless told\b": "by default",
    r"\bto be had\b": "available",
    r"\bmend(s|ed|ing)?\b": "fix",
    r"\blean(s|ed|ing)? on\b": "rely on",
    r"\bcame about\b": "was made, was sampled",
    r"(drawn|draws) without chains": "independent draws",
    r"as often as promised": "at the nominal level",
    r"hardly.learned": "prior-dominated",
    r"without a trace": "not identifiable",
    r"(take|takes|taken) (it |that |a conclusion )?away": "overturn, remove",
    r"so many of each output": "stratified by output",
    r"\bhangs? on\b": "depends on",
    r"\bhas a say\b": "influences, matters",
    r"\bto be believed\b": "reliable",
    r"\bgravely\b": "severe",
    r"\b(these|those|that) very \w": "the same, exactly",
    r"\ball but impossible\b": "extremely unlikely",
    r"\bworth a word\b": "reported",
    r"\bclimb(s|ed|ing)?\b": "ascend, maximise",
    r"\bso many-th\b": "n-th",
    r"\btaken on trust\b": "checked",
    r"\bnow and then\b": "occasionally",
    r"\bspeaks? (against|for)\b": "contradicts, suggests",
    r"\bhad better\b": "should",
    r"\bcomes? apart\b": "is read separately",
    r"(?<!black.)(?<!view )(?<![-\w])box(es)?(?![-=\w])": "classifier",
}
"""Private words, as patterns, and what the field says."""
DRAWN = ("plots/classifier.py", "page/page.css")
"""Where boxes are drawn."""


def texts() -> Iterator[tuple[str, str]]:
    """Every file of the source, and the documentation where it is there, by its name."""
    for file in sorted([*SOURCE.rglob("*.py"), *SOURCE.rglob("*.html")]):
        yield str(file.relative_to(SOURCE)), file.read_text(encoding="utf-8")
    for file in sorted([*PROJECT.glob("docs/**/*.md"), *PROJECT.glob("README.md"), *PROJECT.glob("ARCHITECTURE.md")]):
        if file.name != "glossary.md":  # which names some of them, to say what they mean
            yield str(file.relative_to(PROJECT)), file.read_text(encoding="utf-8")


def found(pattern: str, text: str) -> list[str]:
    return [match[0] for match in re.finditer(pattern, text, re.IGNORECASE)]


@pytest.mark.parametrize("pattern", INSTEAD)
def test_a_private_word_is_gone(pattern: str) -> None:
    wrong = {name: words for name, text in texts() if name not in DRAWN and (words := found(pattern, text))}
    assert wrong == {}, f"say: {INSTEAD[pattern]}"


@pytest.mark.parametrize(
    "line",
    [
        '"""Give the mode."""',
        "a rival summit",
        "the box's outputs",
        "unless told",
        "before leaning on it",
        "Boxes are poor",
        "the answer hangs on the prior",
        "the prior has a say",
        "weights that are not to be believed",
        "in that very column",
        "Climb from each point",
        "every so many-th draw",
        "what speaks against it",
    ],
)
def test_each_is_seen(line: str) -> None:
    assert [pattern for pattern in INSTEAD if found(pattern, line)]


@pytest.mark.parametrize("line", ["a black box", "black-box shift", "viewBox=", "box=None", "ax.bbox.height", "a mode"])
def test_words_of_the_field_and_of_libraries_stay(line: str) -> None:
    assert not [pattern for pattern in INSTEAD if found(pattern, line)]
