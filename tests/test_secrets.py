"""Passwords and tokens in addresses are masked wherever an address is said."""

import traceback
from pathlib import Path

import duckdb
import pytest

import truecount as tc
from command import run
from made_counts import count_files
from truecount._secrets import masked, masked_command, without_secrets
from truecount.page.reproduce import repeat

COLUMNS = {"label": "human", "prediction": "verdict"}
MASKED = {
    "postgres://me:secret@host/db#t": "postgres://me:***@host/db#t",
    "postgresql://me:se:cr@et/1#2@host:5432/db#t": "postgresql://me:***@host:5432/db#t",
    "mysql://me:pass word@host/db#t": "mysql://me:***@host/db#t",
    "postgres://me@host/db#t": "postgres://me@host/db#t",
    "postgres://host/db?user=me&password=secret#t": "postgres://host/db?user=me&password=***#t",
    "https://token@host/runs.csv": "https://***@host/runs.csv",
    "https://me:secret@host:8080/runs.csv": "https://me:***@host:8080/runs.csv",
    "https://host/runs.csv?week=3&token=abc&x=1": "https://host/runs.csv?week=3&token=***&x=1",
    "https://x.blob/runs.csv?sv=2024&sig=a%2Bb%3D": "https://x.blob/runs.csv?sv=2024&sig=***",
    "https://s3/r.csv?X-Amz-Credential=AK%2F1&X-Amz-Signature=ffff": (
        "https://s3/r.csv?X-Amz-Credential=***&X-Amz-Signature=***"
    ),
    "s3://bucket/*.csv?s3_access_key_id=AK&s3_secret_access_key=SK": (
        "s3://bucket/*.csv?s3_access_key_id=***&s3_secret_access_key=***"
    ),
    "https://host:8080/a@b.csv?mail=a@b": "https://host:8080/a@b.csv?mail=a@b",
    "file:///data/runs.csv": "file:///data/runs.csv",
    "postgres:/me:secret@host/db": "postgres:/me:***@host/db",
    "runs.csv": "runs.csv",
    "C:/runs:1@2.csv": "C:/runs:1@2.csv",
}


@pytest.mark.parametrize("address", MASKED)
def test_masks(address: str) -> None:
    assert masked(address) == MASKED[address]
    if " " not in address:
        assert masked(f"see {address} there") == f"see {MASKED[address]} there"


def test_what_is_said_of_an_address_tells_no_part_of_it() -> None:
    address = "postgres://me:s%20ecret@host/db#t"
    said = "cannot connect: password=s ecret of me, s%20ecret, postgres://me:s%20ecret@host"
    assert "ecret" not in without_secrets(said, address)


def test_a_command_is_masked_word_by_word() -> None:
    line = "truecount estimate 'postgres://me:a b@host/db#t' --audit=https://h/x.csv?token=abc --label human"
    shown, has_secrets = masked_command(line)
    assert has_secrets
    assert shown.split()[2:] == [
        "'postgres://me:***@host/db#t'",
        "'--audit=https://h/x.csv?token=***'",
        *line.split()[-2:],
    ]
    assert masked_command("truecount estimate 'a b.csv'  --label x") == (
        "truecount estimate 'a b.csv'  --label x",
        False,
    )
    assert masked_command("say 'https://u:p@h") == ("say 'https://u:***@h", True)


ADDRESSES = [
    "postgres://me:hunter2@127.0.0.1:1/db#t",
    "postgres://me:hunter2@127.0.0.1:1/db",
    "mysql://me:hunter2@127.0.0.1:1/db#t",
    "https://me:hunter2@127.0.0.1:1/t.csv",
    "https://127.0.0.1:1/t.csv?token=hunter2",
    "https://127.0.0.1:1/t.xlsx?sig=hunter2",
    "s3://bucket/t.parquet?s3_secret_access_key=hunter2",
    "file:///nowhere/t.csv?password=hunter2",
    "duckdb:///nowhere/t.db?password=hunter2#t",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_errors_do_not_tell_them(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(tc.InputError) as error:
        count_files(address, **COLUMNS)
    assert "hunter2" not in "".join(traceback.format_exception(error.value))
    assert "***" in str(error.value)


@pytest.mark.parametrize("address", ADDRESSES[::3])
def test_the_command_does_not_tell_them(address: str, tmp_path: Path) -> None:
    done = run("estimate", address, "--label", "human", "--prediction", "verdict", folder=tmp_path)
    assert done.returncode == 1
    assert "hunter2" not in done.stdout + done.stderr


def test_nor_when_used_wrongly(tmp_path: Path) -> None:
    for arguments in ([], ["--confusion", "x.csv"], [ADDRESSES[5], "--label", "x"]):
        done = run("estimate", ADDRESSES[0], *arguments, folder=tmp_path)
        assert done.returncode in (1, 2)
        assert "hunter2" not in done.stdout + done.stderr


ENCODED = "postgres://me:hun%20ter2@h/db#t"


def test_what_duckdb_echoes_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        said = 'Unable to connect to Postgres at "postgres://me:hun ter2@h/db": no password=hun ter2'
        raise duckdb.IOException(f"IO Error: {said}")

    monkeypatch.setattr("truecount.reading.files.table_at", failing)
    with pytest.raises(tc.InputError, match=r"Unable to connect.*\*\*\*@h/db") as error:
        count_files(ENCODED, **COLUMNS)
    assert "ter2@" not in "".join(traceback.format_exception(error.value))
    assert "ter2" not in str(error.value)


def test_the_page_says_that_one_was_masked(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "d.db?password=hunter2") as connection:
        connection.execute("CREATE TABLE t AS FROM (VALUES ('a', 'a'), ('b', 'b'), (NULL, 'a')) t(human, verdict)")
    columns = ["--label", "human", "--prediction", "verdict", "--html", "p.html", "--json", "j.json", "--csv", "c.csv"]
    done = run("estimate", "duckdb://d.db?password=hunter2#t", *columns, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    written = [(tmp_path / name).read_text() for name in ("p.html", "j.json", "c.csv")]
    assert "hunter2" not in "".join([*written, done.stdout, done.stderr])
    assert "password=***#t" in written[0]
    assert "A password or token was masked" in written[0]


def test_a_command_given_in_python_is_masked_too() -> None:
    posterior = tc.infer(tc.Counts([[9, 1], [1, 9]], [5, 5]), seed=1)
    made = repeat(posterior, "truecount estimate 'postgres://me:hunter2@h/db#t'")
    assert (made.command, made.has_secrets) == ("truecount estimate 'postgres://me:***@h/db#t'", True)
    assert not repeat(posterior, "truecount estimate runs.csv").has_secrets
