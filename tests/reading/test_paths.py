"""Files that were perhaps meant: near ones, and no others."""

from pathlib import Path

import pytest

from truecount.errors import InputError
from truecount.reading.locate import existing_file


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        ("result.csv", "results.csv"),
        ("results.json", "results."),
        ("nope.csv", None),
        ("un.csv", None),
        ("Results.tsv", "results."),
        ("result.json", None),
        ("m_Non.txt", None),
    ],
)
def test_a_shared_ending_makes_no_file_near(wanted: str, meant: str | None, tmp_path: Path) -> None:
    for name in ("results.csv", "results.txt", "na.csv", "m_None.csv"):
        (tmp_path / name).write_text("x")
    with pytest.raises(InputError) as error:
        existing_file(tmp_path / wanted)
    assert error.value.remedy.startswith(f"Perhaps you meant '{tmp_path / meant}" if meant else "Check the spelling")


@pytest.mark.parametrize("path", ["-", "/dev/stdin", "/dev/fd/0"])
def test_standard_input_is_no_file(path: str) -> None:
    with pytest.raises(InputError, match=f"{path} is no file on disk: a file is needed.*Save the data first"):
        existing_file(path)
