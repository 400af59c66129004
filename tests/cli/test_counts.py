"""A cluster counts, a laptop infers."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner

import truecount as tc
from command import COMMAND, interruptible, run
from made_counts import count_files
from truecount.cli.app import app
from truecount.counts.exchange import read_counts
from truecount.errors import InputError

COLUMNS = ["--label", "human", "--prediction", "verdict"]


def counts(*arguments: str, code: int = 0) -> str:
    """Run the verb in this process and give what it prints."""
    done = CliRunner().invoke(app, ["counts", *arguments], catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done.stdout if code == 0 else done.stderr


def made_rows(number: int) -> list[tuple[str, str, int]]:
    rng = random.Random(2)  # noqa: S311
    labels = ["", "", "", "fail", "pass"]
    return [(rng.choice(labels), rng.choice(["fail", "pass", "unsure"]), rng.randrange(3)) for _ in range(number)]


def write(file: Path, rows: list[tuple[str, str, int]]) -> Path:
    file.write_text("human,verdict,week\n" + "".join(f"{human},{verdict},{week}\n" for human, verdict, week in rows))
    return file


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write(tmp_path / "runs.csv", made_rows(500))


def test_counts_are_written_and_estimated(table: Path, tmp_path: Path) -> None:
    said = counts(str(table), *COLUMNS, "-o", str(tmp_path / "counts.json"))
    assert said.startswith("195 labelled and 305 unlabelled rows, 2 classes, 3 outputs: ")
    assert read_counts(tmp_path / "counts.json").to_counts() == count_files(table, label="human", prediction="verdict")
    estimates = [
        CliRunner().invoke(app, ["estimate", *arguments, "--json", "-"]).stdout
        for arguments in ([str(tmp_path / "counts.json")], [str(table), *COLUMNS])
    ]
    assert estimates[0] == estimates[1] != ""


def test_counts_whose_outputs_never_meet_are_not_estimated(tmp_path: Path) -> None:
    write(tmp_path / "t.csv", [("a", "Yes", 1), ("b", "No", 1), ("", "yes", 1)])
    counts(str(tmp_path / "t.csv"), *COLUMNS, "-o", str(tmp_path / "counts.json"))
    with pytest.raises(InputError, match=r"counts\.json has 'No' and 'Yes' .* perhaps 'yes' is 'Yes'"):
        CliRunner().invoke(app, ["estimate", str(tmp_path / "counts.json")], catch_exceptions=False)


def test_counts_go_through_a_pipe(table: Path, tmp_path: Path) -> None:
    text = table.read_text()
    counted = subprocess.run(
        [*COMMAND, "counts", "-", *COLUMNS], input=text, capture_output=True, text=True, check=True
    )
    assert tc.Counts.from_json(counted.stdout) == count_files(table, label="human", prediction="verdict")
    estimated = subprocess.run(
        [*COMMAND, "estimate", "-"], input=counted.stdout, capture_output=True, text=True, check=True
    )
    assert estimated.stdout == run("estimate", str(table), *COLUMNS, folder=tmp_path).stdout


def test_standard_input_is_named_in_errors() -> None:
    for text, message in (("human,verdict\na\n", "standard input cannot be read"), ("", "standard input is empty")):
        done = subprocess.run(
            [*COMMAND, "counts", "-", *COLUMNS], input=text, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout) == (1, "")
        assert message in done.stderr
        assert "truecount-" not in done.stderr


def test_standard_input_may_be_json_or_parquet(table: Path, tmp_path: Path) -> None:
    expected = count_files(table, label="human", prediction="verdict")
    for form in ("json", "json, ARRAY true", "parquet"):
        file = tmp_path / "other"
        duckdb.sql(f"COPY (FROM read_csv('{table}')) TO '{file}' (FORMAT {form})")
        with file.open("rb") as stream:
            done = subprocess.run(
                [*COMMAND, "counts", "-", *COLUMNS], stdin=stream, capture_output=True, text=True, check=True
            )
        assert tc.Counts.from_json(done.stdout) == expected, form


def test_merging_a_hundred_shards_is_counting_the_whole(tmp_path: Path) -> None:
    rows = made_rows(500)
    files = []
    for number in range(100):
        shard = tc.Counter()
        part = rows[5 * number : 5 * number + 5]
        shard.update([human or None for human, _, _ in part], [verdict for _, verdict, _ in part])
        files.append(tmp_path / f"{number}.json")
        files[-1].write_text(json.dumps(shard.to_dict()))
    classes = {len(json.loads(file.read_text())["classes"]) for file in files}
    assert classes == {0, 1, 2}
    counts("merge", *map(str, files), "-o", str(tmp_path / "all.json"))
    whole = write(tmp_path / "runs.csv", rows)
    assert read_counts(tmp_path / "all.json").to_counts() == count_files(whole, label="human", prediction="verdict")


def test_merging_shards_of_groups_is_counting_the_whole_by_group(table: Path, tmp_path: Path) -> None:
    rows = made_rows(500)
    for number in range(7):
        part = write(tmp_path / f"part{number}.csv", rows[number::7])
        counts(str(part), *COLUMNS, "--by", "week", "-o", str(tmp_path / f"part{number}.json"))
    parts = [str(tmp_path / f"part{number}.json") for number in range(7)]
    assert counts("merge", *parts) == counts(str(table), *COLUMNS, "--by", "week")


def test_labeled_and_unlabeled_rows_may_be_counted_apart(tmp_path: Path) -> None:
    rows = made_rows(200)
    whole = write(tmp_path / "runs.csv", rows)
    read = write(tmp_path / "read.csv", [row for row in rows if row[0]])
    unread = tmp_path / "unread.csv"
    unread.write_text("verdict\n" + "".join(f"{row[1]}\n" for row in rows if not row[0]))
    counts(str(read), *COLUMNS, "-o", str(tmp_path / "a.json"))
    counts(str(unread), "--prediction", "verdict", "-o", str(tmp_path / "b.json"))
    expected = counts(str(whole), *COLUMNS)
    assert counts("merge", str(tmp_path / "a.json"), str(tmp_path / "b.json")) == expected
    assert counts(str(read), str(unread), *COLUMNS) == expected


def test_weights_are_summed(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("human,verdict,w\na,a,2\nb,b,0.5\n,a,3\n")
    document = json.loads(counts(str(tmp_path / "t.csv"), *COLUMNS, "--weight", "w"))
    assert document["labeled"] == [[2, 0], [0, 0.5]]
    assert document["unlabeled_squares"] == [9, 0]


def test_strict_classes_name_the_file(tmp_path: Path) -> None:
    for name, labels in (("a", "a\nb"), ("b", "a\nc")):
        (tmp_path / f"{name}.csv").write_text("human,verdict\n" + "".join(f"{label},a\n" for label in labels.split()))
        counts(str(tmp_path / f"{name}.csv"), *COLUMNS, "-o", str(tmp_path / f"{name}.json"))
    both = [str(tmp_path / "a.json"), str(tmp_path / "b.json")]
    assert json.loads(counts("merge", *both))["classes"] == ["a", "b", "c"]
    output = tmp_path / "all.json"
    with pytest.raises(InputError, match=r"b\.json lacks 'b' among its classes"):
        counts("merge", *both, "--strict-classes", "-o", str(output))
    assert not output.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["merge"], "Name the files to merge"),
        (["merge", "a.json", "--by", "week"], "merge does not go with --by"),
        (["t.csv", *COLUMNS, "--strict-classes"], "goes with merge"),
        (["t.csv"], "also needs --prediction"),
        (["a.csv", "b.csv", "--prediction", "v"], "also needs --label"),
        (["a", "b", "c", *COLUMNS], "3 files were named"),
        (["-", "-", *COLUMNS], "once only"),
    ],
)
def test_bad_usage(arguments: list[str], message: str) -> None:
    assert message in counts(*arguments, code=2)


def test_an_unreadable_shard_is_named_and_leaves_no_output(tmp_path: Path) -> None:
    for number in range(3):
        duckdb.sql(f"COPY (SELECT 'a' human, 'b' verdict) TO '{tmp_path / f'part{number}.parquet'}'")
    (tmp_path / "part1.parquet").write_bytes(b"PAR1 is not enough PAR1")
    done = run("counts", "part*.parquet", *COLUMNS, "-o", "counts.json", folder=tmp_path)
    assert done.returncode == 1
    assert "part1.parquet cannot be read" in done.stderr
    assert "Traceback" not in done.stderr
    (tmp_path / "good.json").write_text(tc.Counts([[1, 0], [0, 1]], [1, 1]).to_json())
    (tmp_path / "bad.json").write_text('{"schema": "truecount.counts/1"')
    done = run("counts", "merge", "good.json", "bad.json", "-o", "counts.json", folder=tmp_path)
    assert done.returncode == 1
    assert "bad.json" in done.stderr
    assert not (tmp_path / "counts.json").exists()


def test_output_that_cannot_be_written_is_refused_before_counting(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="lies in no folder"):
        counts("does-not-exist.csv", *COLUMNS, "-o", str(tmp_path / "nowhere" / "counts.json"))


INTERRUPTED = """
import os, signal, sys, threading, time
from contextlib import contextmanager
from truecount import _progress
from truecount.cli.app import main

def press(share):
    while share() <= 0:
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)

@contextmanager
def watch(share):
    threading.Thread(target=press, args=(share,), daemon=True).start()
    yield

_progress.watch = watch
sys.argv = ["truecount", *sys.argv[1:]]
main()
"""
"""The command, in which Ctrl-C is pressed as soon as DuckDB has begun to count."""


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
def test_interrupting_leaves_nothing_half_written(tmp_path: Path) -> None:
    rows = "SELECT chr((97 + hash(i) % 9)::INT) human, md5(i::VARCHAR) verdict FROM range(3000000) t(i)"
    duckdb.sql(f"COPY ({rows}) TO '{tmp_path / 'runs.parquet'}'")
    (tmp_path / "counts.json").write_text("before")
    command = [sys.executable, "-c", INTERRUPTED, "counts", "runs.parquet", *COLUMNS, "-o", "counts.json"]
    with interruptible():
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (130, "")
    assert "Traceback" not in done.stderr
    assert sorted(os.listdir(tmp_path)) == ["counts.json", "runs.parquet"]
    assert (tmp_path / "counts.json").read_text() == "before"


@pytest.mark.parametrize("named", ["runs.csv", "./runs.csv", "link.csv", "run*.csv", "."])
def test_an_input_is_never_written_to(named: str, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = table.read_bytes()
    if named == "link.csv":
        (tmp_path / named).symlink_to(table)
    with pytest.raises(InputError, match=r"runs.csv is read and is to be written.*Name another file"):
        counts(named, *COLUMNS, "-o", "runs.csv")
    assert table.read_bytes() == before


@pytest.mark.parametrize(
    ("verb", "option"), [("estimate", "json"), ("estimate", "csv"), ("estimate", "html"), ("check", "json")]
)
def test_no_verb_writes_to_its_input(verb: str, option: str, table: Path) -> None:
    before = table.read_bytes()
    with pytest.raises(InputError, match="is read and is to be written"):
        CliRunner().invoke(app, [verb, str(table), *COLUMNS, f"--{option}", str(table)], catch_exceptions=False)
    assert table.read_bytes() == before


def test_neither_matrix_nor_audit_is_written_to(table: Path, tmp_path: Path) -> None:
    (tmp_path / "new.csv").write_text("a,b\n1,2\n")
    for arguments in (
        ["estimate", "--confusion", str(table), "--unlabeled", str(tmp_path / "new.csv"), "--csv", str(table)],
        ["check", str(tmp_path / "new.csv"), *COLUMNS, "--audit", str(table), "--json", str(table)],
    ):
        with pytest.raises(InputError, match="is read and is to be written"):
            CliRunner().invoke(app, arguments, catch_exceptions=False)


def test_merging_writes_to_no_shard_and_counts_none_twice(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for part in ("part-1.json", "part-2.json"):
        counts(str(table), *COLUMNS, "-o", part)
    with pytest.raises(InputError, match=r"part-1.json is read and is to be written"):
        counts("merge", "part-1.json", "part-2.json", "-o", "part-1.json")
    with pytest.raises(InputError, match=r"^./part-1.json is named twice: each shard is counted once"):
        counts("merge", "part-1.json", "part-2.json", "./part-1.json")
    assert counts("merge", "part-1.json", "part-2.json").startswith('{"schema"')


def test_counts_without_labels_and_several_files_of_counts_lead_to_merging(table: Path, tmp_path: Path) -> None:
    parts = [str(tmp_path / f"part-{number}.json") for number in (1, 2, 3)]
    counts(str(table), "--prediction", "verdict", "-o", parts[0])
    counts(str(table), "--prediction", "verdict", "--by", "week", "-o", parts[1])
    counts(str(table), *COLUMNS, "-o", parts[2])
    for part in parts[:2]:
        with pytest.raises(InputError, match=r"counts hold no labels yet.*truecount counts merge"):
            CliRunner().invoke(app, ["estimate", part], catch_exceptions=False)
    done = run("estimate", "part-1.json", "part-3.json", folder=tmp_path)
    assert done.returncode == 2
    said = "2 files of counts. Merge them first: truecount counts merge part-1.json part-3.json"
    assert said in " ".join(done.stderr.split())


def test_an_unknown_period_lists_those_there_are(table: Path) -> None:
    with pytest.raises(InputError, match="Write the period of 'week' as one of minute, hour, day, week, month"):
        counts(str(table), *COLUMNS, "--by", "week:fortnight")
