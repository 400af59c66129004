"""What the library advises becomes what can be typed."""

import pytest

from truecount import Counts, Exact, Prior, infer
from truecount.cli.wording import in_shell
from truecount.counts.survey import survey
from truecount.errors import InputError

COUNTS = Counts([[8, 2], [1, 9]], [30, 20])


def advice(remedy: str) -> str:
    return in_shell(InputError("x", "is y", "it must be z", remedy)).remedy


@pytest.mark.parametrize(
    ("python", "shell"),
    [
        ("Pass missing='NA' if so, or missing='' if not", "Pass --missing 'NA' if so, or --missing '' if not"),
        ("Ask for target='population'", "Ask for --target 'population'"),
        ("Use Prior(confusion='sparse')", "Use --prior-confusion sparse"),
        ("Use Auto() or Hamiltonian()", "Use --engine auto or --engine hamiltonian"),
        ("Name every class with count(..., classes=[...])", "Name every class in the file"),
        ("Write 0 where nothing was seen", "Write 0 where nothing was seen"),
    ],
)
def test_keywords_become_options(python: str, shell: str) -> None:
    assert advice(python) == shell


def test_arguments_become_options() -> None:
    with pytest.raises(InputError) as error:
        survey((5, 3), sensitivity=0.9, specificity=0.9)
    assert str(in_shell(error.value)).startswith("--positive is 5 of 3")
    assert in_shell(InputError("runs.csv", "is empty", "it must hold data", "Fill it")).argument == "runs.csv"


def test_nothing_that_an_engine_or_a_prior_advises_is_python() -> None:
    other = Counts([[8, 2, 1], [1, 9, 1]], [30, 20, 5])
    for counts, options in (
        (COUNTS, {"prior": Prior(0.5), "engine": Exact()}),
        (other, {"prior": Prior.diagonal(2)}),
        (Counts([[0, 0], [0, 0]], [3, 2]), {}),
    ):
        with pytest.raises(InputError) as error:
            infer(counts, **options)  # type: ignore[arg-type]
        assert "(" in error.value.remedy
        assert "(" not in in_shell(error.value).remedy
