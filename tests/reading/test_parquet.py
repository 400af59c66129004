"""Columns of Parquet files that DuckDB cannot tell apart are refused; others are none of its business."""

from pathlib import Path
from typing import Any

import pytest

from made_counts import count_files
from truecount.errors import InputError

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

LABELS, OUTPUTS = ["a", "b", None], ["a", "b", "a"]


def write(file: Path, *names: str, values: Any = OUTPUTS) -> None:
    """Write labels in the first column, and the same values in each of the others."""
    file.parent.mkdir(parents=True, exist_ok=True)
    columns = [arrow.array(values if position else LABELS) for position in range(len(names))]
    parquet.write_table(arrow.Table.from_arrays(columns, names=names), file)


@pytest.mark.parametrize(
    ("names", "prediction", "told"),
    [
        (("human", "Verdict", "verdict"), "verdict", "has columns 'Verdict', 'verdict': .* only in case"),
        (("human", "Verdict", "verdict"), "Verdict", "has columns 'Verdict', 'verdict'"),
        (("human", "verdict", "verdict"), "verdict", "has columns 'verdict', 'verdict'"),
        (("human", "Verdict", "verdict", "verdict_1"), "verdict_1", "has columns 'Verdict', 'verdict'"),
    ],
)
def test_columns_that_are_alike_are_refused(names: tuple[str, ...], prediction: str, told: str, tmp_path: Path) -> None:
    write(tmp_path / "t.parquet", *names)
    with pytest.raises(InputError, match=told) as error:
        count_files(tmp_path / "t.parquet", label="human", prediction=prediction)
    assert error.value.argument == str(tmp_path / "t.parquet")


def test_a_later_shard_is_looked_at_too(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", "human", "Verdict")
    write(tmp_path / "b.parquet", "human", "verdict", "Verdict")
    with pytest.raises(InputError, match="'verdict', 'Verdict'") as error:
        count_files(tmp_path, label="human", prediction="Verdict")
    assert error.value.argument == str(tmp_path / "b.parquet")


def test_entries_that_are_alike_are_refused(tmp_path: Path) -> None:
    answers = [{"B": "a", "b": "b", "c": "a"}, {"B": "b", "b": "b", "c": "b"}, {"B": "a", "b": "b", "c": "a"}]
    write(tmp_path / "t.parquet", "human", "answer", values=answers)
    with pytest.raises(InputError, match=r"'answer\.B', 'answer\.b'"):
        count_files(tmp_path / "t.parquet", label="human", prediction="answer.b")
    assert count_files(tmp_path / "t.parquet", label="human", prediction="answer.c").unlabeled.tolist() == [1, 0]


def test_a_folder_that_would_replace_a_column_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "runs/Verdict=x/t.parquet", "human", "verdict")
    with pytest.raises(InputError, match="'verdict', 'Verdict'"):
        count_files(tmp_path / "runs", label="human", prediction="verdict")


def test_other_columns_may_be_alike(tmp_path: Path) -> None:
    write(tmp_path / "t.parquet", "human", "verdict", "note", "Note", "verdict_2")
    assert count_files(tmp_path / "t.parquet", label="human", prediction="verdict").labeled.sum() == 2
