"""A file is whole or not there."""

import errno
import os
import stat
from pathlib import Path

import pytest

from truecount._atomic import require_writable, whole_file
from truecount.errors import InputError


def test_file_appears_only_when_whole(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    with whole_file(file) as stream:
        stream.write(b"half")
        assert not file.exists()
        stream.write(b" and half")
    assert file.read_bytes() == b"half and half"
    assert os.listdir(tmp_path) == ["a.txt"]


def write_half(file: Path, trouble: type[BaseException]) -> None:
    with whole_file(file) as stream:
        stream.write(b"half")
        raise trouble


@pytest.mark.parametrize("trouble", [KeyboardInterrupt, OSError, SystemExit])
@pytest.mark.parametrize("before", [None, b"before"])
def test_trouble_leaves_what_was_there(trouble: type[BaseException], before: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    if before is not None:
        file.write_bytes(before)
    with pytest.raises(trouble):
        write_half(file, trouble)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == (
        {} if before is None else {"a.txt": before}
    )


def test_permissions_are_those_of_any_new_file_or_of_the_old_one(tmp_path: Path) -> None:
    usual = tmp_path / "usual"
    usual.touch()
    with whole_file(tmp_path / "new"):
        pass
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == stat.S_IMODE(usual.stat().st_mode)
    usual.chmod(0o640)
    with whole_file(usual):
        pass
    assert stat.S_IMODE(usual.stat().st_mode) == 0o640


def test_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real" / "file")
    with whole_file(tmp_path / "link") as stream:
        stream.write(b"x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "file").read_bytes() == b"x"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with whole_file(pipe) as stream:
        stream.write(b"x")
    assert os.read(reader, 10) == b"x"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_impossible_paths_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        require_writable(tmp_path)
    with pytest.raises(InputError, match="no folder that exists"):
        require_writable(tmp_path / "nowhere" / "a.txt")
    require_writable(tmp_path / "a.txt")
    assert not (tmp_path / "a.txt").exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is forbidden to this user")
def test_forbidden_folder_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="may not write"):
        require_writable(tmp_path / "a.txt")
    tmp_path.chmod(0o700)


def test_what_is_read_is_not_written_to(tmp_path: Path) -> None:
    source = tmp_path / "a.txt"
    with pytest.raises(InputError, match="is read and is to be written"):
        require_writable(source, [source])
    source.write_text("data")
    require_writable(tmp_path / "b.txt", [source])
    with pytest.raises(InputError, match="destroy the data"):
        require_writable(tmp_path / "." / "a.txt", [tmp_path / "b.txt", source])


def test_a_folder_that_refuses_is_told_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), "draft")

    monkeypatch.setattr(Path, "open", refuse)
    with (
        pytest.raises(InputError, match=r"a\.txt cannot be written: Read-only file system"),
        whole_file(tmp_path / "a.txt"),
    ):
        pass
