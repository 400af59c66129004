"""What a file holds is told by its ending and, for JSON, by its first lines."""

import gzip
import json
from pathlib import Path

import pytest

from truecount.counts.query import grouped, kind
from truecount.errors import InputError


def write(file: Path, content: str) -> Path:
    file.write_bytes(gzip.compress(content.encode()) if file.suffix == ".gz" else content.encode())
    return file


@pytest.mark.parametrize("name", ["t.json", "T.JSON", "t.json.gz"])
@pytest.mark.parametrize("start", ["", "\n \n"])
def test_json_lines_by_another_ending(name: str, start: str, tmp_path: Path) -> None:
    file = write(tmp_path / name, start + "\n".join(json.dumps({"verdict": verdict}) for verdict in "aab"))
    assert kind(file) == ".jsonl"
    assert sorted(grouped(file, ["verdict"])) == [("a", 2), ("b", 1)]


@pytest.mark.parametrize("content", ['[{"a": 1}]', '{"a": 1}', '{\n"a": 1}', "a,b\n1,2\n", "1\n2\n", "\x00"])
def test_other_json_is_no_table(content: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"t\.json is not JSON Lines: a table in JSON has an object on each line"):
        grouped(write(tmp_path / "t.json", content), ["a"])


@pytest.mark.parametrize("name", ["t.csv.gz", "t.jsonl.gz", "t.json.gz"])
def test_corrupt_compression_is_refused_by_name(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(gzip.compress(b"")[:10] + b"\xff" * 50)
    with pytest.raises(InputError) as error:
        grouped(tmp_path / name, ["a"])
    assert error.value.argument == str(tmp_path / name)
