"""A row of a CSV file goes forward: few files, and hardly ever back; `trace_row.py` prints the way."""

import pytest
from tests.architecture.trace_row import Call, entries, files_by_folder, reversals, table, trace_page

MOST_FILES, MOST_OF_READING, MOST_REVERSALS = 32, 8, 1


@pytest.fixture(scope="module")
def calls() -> list[Call]:
    return trace_page()


def test_a_row_passes_few_files(calls: list[Call]) -> None:
    passed = files_by_folder(calls)
    assert len(passed["reading"]) + len(passed["counts"]) <= MOST_OF_READING, "\n".join(table(calls))
    assert sum(map(len, passed.values())) <= MOST_FILES, "\n".join(table(calls))


def test_a_row_hardly_ever_turns_back(calls: list[Call]) -> None:
    assert [call.folder for call in entries(calls)][:3] == ["reading", "counts", "models"]
    assert len(reversals(calls)) <= MOST_REVERSALS, "\n".join(table(calls))


def test_a_turn_is_seen() -> None:
    way = [Call(folder, f"{folder}/made.py", "made", "api") for folder in ("counts", "models", "counts", "page")]
    asked = Call("counts", "counts/made.py", "asked", "page")
    assert reversals([*way, asked]) == [(way[1], way[2])]
    assert [call.folder for call in entries([*way, asked])] == ["counts", "models", "counts", "page"]
