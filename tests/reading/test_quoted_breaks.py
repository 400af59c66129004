"""Valid CSV with line breaks in quotes is read right, also where DuckDB's parallel reader loses step."""

import csv
import random
from collections import Counter
from pathlib import Path

import duckdb
import pytest

import truecount as tc
from truecount.reading.columns import Columns
from truecount.reading.files import File
from truecount.reading.locate import ends_in_quotes

WORDS = [
    '"',
    '""',
    ",",
    "\n",
    "\r\n",
    "a,b\n",
    '"quoted, and\nbroken"',
    "word ",
    "\n\n",
    "é",
    '",\n"',
    "human,verdict\n",
]


def write(path: Path, seed: int, megabytes: float) -> Counter[tuple[str, str]]:
    """Write rows with answers of a language model, and return how many there are of each kind."""
    rng, often = random.Random(seed), Counter[tuple[str, str]]()  # noqa: S311
    order = rng.sample(["human", "verdict", "answer"], 3)
    longest = rng.choice([5, 50, 400, 3000])
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, order, lineterminator=rng.choice(["\n", "\r\n"]))
        writer.writeheader()
        while stream.tell() < megabytes * 1e6 if sum(often.values()) % 200 == 0 else True:
            kind = rng.choice(["a", "b", ""]), rng.choice(["a", "b"])
            answer = "".join(rng.choices(WORDS, k=rng.randrange(longest)))
            writer.writerow({"human": kind[0], "verdict": kind[1], "answer": answer})
            often[kind] += 1
    return often


def found(path: Path) -> Counter[tuple[str, str]]:
    rows = File(path).rows(Columns(label="human", prediction="verdict"))
    return Counter({(str(row.label or ""), str(row.output)): row.rows for row in rows})


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_large_files_of_answers(seed: int, tmp_path: Path) -> None:
    often = write(tmp_path / "t.csv", seed, 4 + 41 * seed / 23)
    assert found(tmp_path / "t.csv") == often


def test_a_file_is_read_again_by_one_thread_before_it_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from truecount.reading import files

    often, relations = write(tmp_path / "t.csv", 1, 0.1), files.relations

    def losing_step(*arguments: object, is_careful: bool = False) -> object:
        if not is_careful:
            raise duckdb.InvalidInputException("CSV Error on Line: 5")
        return relations(*arguments, is_careful=True)

    monkeypatch.setattr(files, "relations", losing_step)
    assert found(tmp_path / "t.csv") == often


OPEN = {
    'human,verdict\na,a\nb,"b\n': True,
    'human,verdict\na,a\n"b,b': True,
    'human,verdict\n"a","a ""x"\nb,"b""\n': True,
    'human,verdict\na,a\nb,"b"\n': False,
    'human,verdict\na,a\nb,"b\n\n""\n"\n': False,
    'human,verdict\na,5" pipe\nb,b\n': False,
    'human;verdict\na;"x\n;"\nb;b\n': False,
    '"human","verdict\n"\na,b\n': False,
}


@pytest.mark.parametrize("content", OPEN)
def test_an_open_quote_is_seen(content: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(content)
    assert ends_in_quotes(tmp_path / "t.csv") is OPEN[content]


def test_an_open_quote_is_refused_and_not_left_out(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("human,verdict\n" + "a,a\n" * 9 + 'b,"b\n' + "b,b\n" * 9)
    with pytest.raises(tc.InputError, match="unterminated quote"):
        found(tmp_path / "t.csv")
