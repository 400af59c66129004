"""JSON that means two things, that Python cannot hold, or that begins with a byte order mark."""

import gzip
import json
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest

import truecount as tc
from command import run
from truecount.counts.exchange import read_counts
from truecount.reading.columns import Columns
from truecount.reading.files import File
from truecount.reading.locate import require_whole

COLUMNS = Columns(label="human", prediction="verdict")
MARK = "\ufeff"
LINES = '{"human": "a", "verdict": "x"}\n{"human": null, "verdict": "y"}\n'
COUNTS = tc.Counts([[3, 1], [0, 2]], [5, 5], ["cat", "dog"]).to_json()


def found(path: Path, columns: Columns = COLUMNS) -> set[tuple[object, object, int]]:
    return {(row.label, row.output, row.rows) for row in File(path).rows(columns)}


@pytest.mark.parametrize("name", ["t.jsonl", "t.json", "t.jsonl.gz", "t.ndjson"])
def test_lines_with_a_byte_order_mark_are_read(name: str, tmp_path: Path) -> None:
    content = (MARK + LINES + "\n").encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    assert found(tmp_path / name) == {("a", "x", 1), (None, "y", 1)}


def test_shards_with_a_byte_order_mark_and_without(tmp_path: Path) -> None:
    for week, start in {3: MARK, 4: ""}.items():
        (tmp_path / f"week={week}").mkdir()
        (tmp_path / f"week={week}" / "t.jsonl").write_text(start + LINES, encoding="utf-8")
    rows = File(tmp_path).rows(Columns(prediction="verdict", by={"week": None}))
    assert {(row.group, row.output) for row in rows} == {(("3",), "x"), (("3",), "y"), (("4",), "x"), (("4",), "y")}


def test_a_bad_line_after_a_byte_order_mark_is_named(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(MARK + LINES + '{"human": \n', encoding="utf-8")
    with pytest.raises(tc.InputError, match="line 3"):
        found(tmp_path / "t.jsonl")


def test_a_long_line_after_a_byte_order_mark(tmp_path: Path) -> None:
    record = json.dumps({"human": "b", "verdict": "x", "note": "n" * 5_000_000})
    (tmp_path / "t.jsonl").write_text(MARK + LINES + record, encoding="utf-8")
    assert ("b", "x", 1) in found(tmp_path / "t.jsonl")


def test_counts_and_arrays_with_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(MARK + COUNTS, encoding="utf-8")
    assert read_counts(tmp_path / "c.json").to_counts() == tc.Counts.from_json(COUNTS)
    (tmp_path / "a.json").write_text(MARK + json.dumps([json.loads(line) for line in LINES.splitlines()]))
    assert found(tmp_path / "a.json") == {("a", "x", 1), (None, "y", 1)}


TWICE = {
    '{"human": "a", "human": "b", "verdict": "x"}': COLUMNS,
    '{"human": "a", "verdict": "x", "verdict": "x"}': COLUMNS,
    '{"human": "a", "answer": {"verdict": "x", "verdict": "y"}}': Columns(label="human", prediction="answer.verdict"),
    '{"human": "a", "answer": {"verdict": "x"}, "answer": {}}': Columns(label="human", prediction="answer.verdict"),
    '{"human": "a", "verdict": "x", "w": 1, "w": 2}': Columns(label="human", prediction="verdict", weight="w"),
}


@pytest.mark.parametrize("record", TWICE)
@pytest.mark.parametrize("name", ["t.jsonl", "t.json"])
def test_a_key_that_stands_twice_is_refused_in_rows(record: str, name: str, tmp_path: Path) -> None:
    usual = '{"human": "a", "verdict": "x", "answer": {"verdict": "x"}, "w": 1}'
    form = "{}\n{}\n" if name == "t.jsonl" else "[{}, {}]"
    (tmp_path / name).write_text(form.format(usual, record))
    with pytest.raises(tc.InputError, match=r"t\.jsonl? cannot be read .*stands twice in one object") as error:
        found(tmp_path / name, TWICE[record])
    assert record[:30] in str(error.value)


def test_the_shard_with_a_key_that_stands_twice_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(LINES)
    (tmp_path / "b.jsonl").write_text('{"verdict": "x", "verdict": "y"}\n')
    with pytest.raises(tc.InputError) as error:
        found(tmp_path)
    assert error.value.argument == str(tmp_path / "b.jsonl")


def test_a_key_that_is_not_read_may_stand_twice(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"human": "a", "verdict": "x", "n": 1, "n": 2}\n{"verdict": "y"}\n')
    assert found(tmp_path / "t.jsonl") == {("a", "x", 1), (None, "y", 1)}


def test_a_key_that_stands_twice_is_refused_in_counts(tmp_path: Path) -> None:
    twice = COUNTS[:-1] + ', "unlabeled": [1, 1]}'
    with pytest.raises(tc.InputError, match="Key 'unlabeled' stands twice"):
        tc.Counts.from_json(twice)
    (tmp_path / "c.json").write_text(twice)
    with pytest.raises(tc.InputError, match=r"c\.json: counts are not JSON \(Key 'unlabeled' stands twice"):
        read_counts(tmp_path / "c.json")


DIGITS, DEEP = "1" * 5000, "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize("value", [DIGITS, DEEP], ids=["digits", "deep"])
@pytest.mark.parametrize("name", ["t.jsonl", "t.json", "array.json"])
def test_values_that_python_cannot_hold_are_refused(value: str, name: str, tmp_path: Path) -> None:
    records = [f'{{"human": {value}, "verdict": "x"}}', '{"verdict": "y"}']
    (tmp_path / name).write_text(f"[{','.join(records)}]" if name == "array.json" else "\n".join(records))
    with pytest.raises(tc.InputError, match=r"(more digits|nested too deep)"):
        found(tmp_path / name)
    assert found(tmp_path / name, Columns(prediction="verdict")) == {(None, "x", 1), (None, "y", 1)}


@pytest.mark.parametrize("value", [DIGITS, DEEP], ids=["digits", "deep"])
def test_counts_that_python_cannot_hold_are_refused(value: str, tmp_path: Path) -> None:
    text = COUNTS.replace("[5, 5]", f"[{value}, 5]")
    with pytest.raises(tc.InputError, match=r"(more digits|nested too deep)"):
        tc.Counts.from_json(text)
    (tmp_path / "c.json").write_text(text)
    done = run("estimate", "c.json", folder=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: c.json: counts are not JSON (")


def test_the_command_refuses_rows_that_python_cannot_hold(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(f'{{"human": {DIGITS}, "verdict": "x"}}\n{{"verdict": "x"}}\n')
    done = run("estimate", "t.jsonl", "--label", "human", "--prediction", "verdict", folder=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: t.jsonl holds a value that cannot be read (A whole number has more digits")


def test_a_line_of_many_records_is_not_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = json.dumps([{"human": "a", "verdict": "x", "note": "n" * 1000}] * 3000)
    (tmp_path / "t.json").write_text(records)
    from truecount.reading import locate

    fake = SimpleNamespace(loads=lambda text: pytest.fail(f"read {len(text):,} letters"))
    monkeypatch.setattr(locate, "json", fake)
    assert found(tmp_path / "t.json") == {("a", "x", 3000)}


def test_many_columns_are_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("human,verdict," + ",".join(f"c{n}" for n in range(10_000)) + "\n")
    with pytest.raises(tc.InputError, match="has 10,002 columns: at most 10,000"):
        found(tmp_path / "t.csv")
    columns = ", ".join(f"{n} AS c{n}" for n in range(10_001))
    duckdb.sql(f"COPY (SELECT {columns}) TO '{tmp_path / 't.parquet'}' (FORMAT parquet)")
    with pytest.raises(tc.InputError, match="has 10,001 columns: at most 10,000"):
        found(tmp_path / "t.parquet")


def test_many_groups_are_refused_before_they_are_inferred(tmp_path: Path) -> None:
    rows = [f"{'ab'[n % 2] if n < 100 else ''},{'ab'[n % 2]},{n % 10_001}" for n in range(40_104)]
    (tmp_path / "t.csv").write_text("human,verdict,g\n" + "\n".join(rows) + "\n")
    columns = ["--label", "human", "--prediction", "verdict", "--by", "g"]
    done = run("estimate", "t.csv", *columns, folder=tmp_path)
    assert done.returncode == 1
    assert "Error: --by makes 10,001 groups: at most 10,000 are looked at together in one run." in done.stderr
    assert run("counts", "t.csv", *columns, "-o", "c.json", folder=tmp_path).returncode == 0


def test_a_wrong_checksum_is_noticed(tmp_path: Path) -> None:
    for name, text in {"t.csv.gz": "human,verdict\na,x\n", "t.jsonl.gz": LINES}.items():
        content = bytearray(gzip.compress(text.encode()))
        content[-6] ^= 255
        (tmp_path / name).write_bytes(content)
        with pytest.raises(tc.InputError, match=r"CRC check failed.*whole gzip file") as error:
            found(tmp_path / name)
        assert error.value.argument == str(tmp_path / name)
        (tmp_path / name).write_bytes(gzip.compress(text.encode())[:-3])
        with pytest.raises(tc.InputError):
            found(tmp_path / name)


@pytest.mark.parametrize("rows", [30, 100_000])
def test_a_zstd_file_that_is_cut_off_is_refused(rows: int, tmp_path: Path) -> None:
    """DuckDB would count the rows that are left."""
    whole, cut = tmp_path / "whole.csv.zst", tmp_path / "cut.csv.zst"
    table = f"SELECT i % 3 AS human, md5(i::TEXT)[:1] AS verdict FROM range({rows}) t(i)"  # noqa: S608
    duckdb.sql(f"COPY ({table}) TO '{whole}' (FORMAT csv, COMPRESSION zstd)")
    content = whole.read_bytes()
    assert sum(number for _, _, number in found(whole)) == rows
    require_whole(_written(whole, content + bytes.fromhex("502a4d18 02000000 0000") + content))
    for end in (3, 7, len(content) // 2, len(content) - 1):
        _written(cut, content[:end])
        with pytest.raises(tc.InputError, match=r"ended before the end of its stream.*whole zstd file"):
            found(cut)


def _written(file: Path, content: bytes) -> Path:
    file.write_bytes(content)
    return file


def test_several_parts_of_one_gzip_file_are_read(tmp_path: Path) -> None:
    parts = [gzip.compress(b"human,verdict\na,x\n"), gzip.compress(b",y\n")]
    (tmp_path / "t.csv.gz").write_bytes(b"".join(parts))
    assert found(tmp_path / "t.csv.gz") == {("a", "x", 1), (None, "y", 1)}


def test_links_are_followed_or_missed(tmp_path: Path) -> None:
    runs, elsewhere = tmp_path / "runs", tmp_path / "elsewhere"
    runs.mkdir()
    elsewhere.mkdir()
    (runs / "a.csv").write_text("human,verdict\na,x\n")
    (elsewhere / "b.csv").write_text("human,verdict\n,y\n")
    (runs / "more").symlink_to(elsewhere)
    (elsewhere / "loop").symlink_to(runs)
    assert found(runs) == {("a", "x", 1), (None, "y", 1)}
    (runs / "lost.csv").symlink_to(tmp_path / "nothing.csv")
    for path in (runs, runs / "*.csv"):
        with pytest.raises(tc.InputError, match=r"is a link to .*nothing\.csv', which does not exist") as error:
            found(path)
        assert error.value.argument == str(runs / "lost.csv")
