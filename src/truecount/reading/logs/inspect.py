"""Logs of Inspect: ``.eval``, a zip archive whose summaries hold what is counted, and the same as one JSON object."""

import json
import tempfile
import warnings
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from truecount.errors import InputError, TruecountWarning
from truecount.reading.duck import connect, sql_text
from truecount.reading.logs.record import Document, Fields, Record, Tool, other_shape, other_version

NAME = "Inspect"
VERSIONS = (2,)
HEADER, SUMMARIES = "header.json", "summaries.json"
ZSTD = 93
"""How the archive says that a part is compressed by zstd, which Python reads from 3.14 on."""
LOCAL_HEADER = 30
"""Bytes before the name of a part, the last four of which say how long its name and its extra field are."""
LINES = """FROM read_csv({path}, columns={{'line': 'VARCHAR'}}, delim='\x01', quote='', escape='', header=false,
    auto_detect=false, compression='zstd', max_line_size={size}, parallel=false)"""
BULKY = ("messages", "events", "store", "attachments", "events_data")


def is_archive(path: Path) -> bool:
    """Whether a file is called as Inspect calls its archives."""
    return path.suffix.lower() == ".eval"


def read_header(path: Path) -> Mapping[str, Any]:
    """Return what an archive says of itself."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if HEADER not in names or SUMMARIES not in names:
                lacking, needed = "that has not ended", "a log is read when its evaluation has ended"
                raise InputError(str(path), f"is a log of {NAME} {lacking}", needed, "Wait for it, or end it")
            header = _json_of(archive, path, HEADER)
    except (zipfile.BadZipFile, json.JSONDecodeError) as error:
        needed, remedy = f"{NAME} writes a zip archive", "Copy or write it again"
        raise InputError(str(path), f"cannot be read ({error})", needed, remedy) from error
    if not isinstance(header, Mapping):
        raise other_shape(path, NAME, f"whose {HEADER} is no object", "it says which model and task were evaluated")
    return {**header, "samples": None}


def _json_of(archive: zipfile.ZipFile, path: Path, name: str) -> Any:
    part = archive.getinfo(name)
    try:
        return json.loads(archive.read(part))
    except NotImplementedError:
        return json.loads(_decompressed(path, part))


def _decompressed(path: Path, part: zipfile.ZipInfo) -> str:
    """Let DuckDB decompress a part that this version of Python cannot."""
    if part.compress_type != ZSTD:
        needed = "parts of an archive are deflated or compressed by zstd"
        raise InputError(str(path), f"is compressed by method {part.compress_type}", needed, "Write it again")
    with path.open("rb") as stream, tempfile.TemporaryDirectory(prefix="truecount-") as folder:
        stream.seek(part.header_offset)
        lengths = stream.read(LOCAL_HEADER)[-4:]
        stream.seek(int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little"), 1)
        copy = Path(folder) / "part.zst"
        copy.write_bytes(stream.read(part.compress_size))
        with connect() as connection:
            source = LINES.format(path=sql_text(str(copy)), size=max(1 << 21, part.file_size + 1))
            return "\n".join(line or "" for (line,) in connection.execute(source).fetchall())


def _is_log(document: Document) -> bool:
    return is_archive(document.path) or {"eval", "plan", "status"} <= document.head.keys()


def _records(document: Document) -> Iterator[Record]:
    path, log = document
    if log.get("version") not in VERSIONS:
        raise other_version(path, NAME, log.get("version"), VERSIONS)
    run = log.get("eval")
    if not isinstance(run, Mapping):
        raise other_shape(path, NAME, "without an entry 'eval'", "it says which model and task were evaluated")
    samples = _samples(path) if is_archive(path) else log.get("samples")
    if not isinstance(samples, list) or not samples:
        needed = "samples are what is counted"
        raise InputError(str(path), "is a log without samples", needed, "Run the evaluation with log_samples")
    if log.get("status") != "success":
        words = f"{path} ended with status {log.get('status')!r}: the {len(samples):,} samples that are in it are read."
        warnings.warn(words, TruecountWarning, stacklevel=2)
    about = {"model": run.get("model"), "task": run.get("task"), "run_id": run.get("run_id"), "log": path.name}
    scorers = list(dict.fromkeys(name for sample in samples for name in sample.get("scores") or {}))
    for sample in samples:
        yield Record(_values(sample, about, scorers), sample.get("uuid"), has_failed=bool(sample.get("error")))


def _samples(path: Path) -> Any:
    with zipfile.ZipFile(path) as archive:
        return _json_of(archive, path, SUMMARIES)


def _values(sample: Mapping[str, Any], about: dict[str, Any], scorers: Sequence[str]) -> dict[str, Any]:
    """Return the fields of a sample, with the value of each score under its scorer; `score` is that of the only one."""
    scores = {name: score.get("value") for name, score in (sample.get("scores") or {}).items()}
    values = {name: value for name, value in sample.items() if name not in BULKY}
    values |= (
        about
        | {"item": f"{about['log']}: {sample.get('id')}"}
        | {f"scores.{name}": value for name, value in scores.items() if not isinstance(value, Mapping)}
    )
    return values | ({"score": scores.get(scorers[0])} if len(scorers) == 1 else {})


INSPECT = Tool(
    name=NAME,
    fields=Fields(prediction="score", group="model", cluster="item"),
    recognizes=_is_log,
    records=_records,
)
