"""A file is whole or not there."""

import errno
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from truecount import _atomic
from truecount._atomic import require_writable, whole_file, write_whole
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

    monkeypatch.setattr(os, "open", refuse)
    with (
        pytest.raises(InputError, match=r"a\.txt cannot be written: Read-only file system"),
        whole_file(tmp_path / "a.txt"),
    ):
        pass


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def refuse_replacing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the file of that name not be put into its place."""
    replace = Path.replace

    def refuse(self: Path, target: Path) -> Path:
        if target.name == name and b"new" in self.read_bytes():
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", refuse)


def test_several_files_are_written_in_their_order(tmp_path: Path) -> None:
    write_whole({str(tmp_path / name): name.encode() for name in ("b", "a", "c")})
    assert contents(tmp_path) == {"a": b"a", "b": b"b", "c": b"c"}


@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize("refused", ["a", "b", "c"])
def test_several_files_are_all_written_or_none(
    refused: str, links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "c").write_bytes(b"older")
    refuse_replacing(refused, monkeypatch)
    if not links:
        monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(OSError(errno.EPERM, "no links")))
    with pytest.raises(InputError, match=rf"{refused} cannot be written: Operation not permitted"):
        write_whole({str(tmp_path / name): f"new {name}".encode() for name in ("a", "b", "c")})
    assert contents(tmp_path) == {"a": b"old", "c": b"older"}


def test_a_full_disk_is_told_by_the_file_that_did_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(self: Path, data: bytes) -> int:
        if data == b"large":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return len(data)

    monkeypatch.setattr(Path, "write_bytes", fill)
    with pytest.raises(InputError, match=r"b cannot be written: No space left on device"):
        write_whole({str(tmp_path / "a"): b"small", str(tmp_path / "b"): b"large"})
    assert not list(tmp_path.iterdir())


def test_a_full_disk_names_the_file_that_is_written_bit_by_bit(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match=r"a\.npz cannot be written: No space left on device"),
        whole_file(tmp_path / "a.npz"),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


KILLED = """
import os, signal, sys
from truecount._atomic import whole_file
with whole_file(sys.argv[1]) as stream:
    stream.write(b"half")
    stream.flush()
    {}
"""


@pytest.mark.skipif(_atomic.fcntl is None, reason="no locks here")
def test_drafts_of_a_killed_process_are_removed_and_those_of_a_living_one_are_not(tmp_path: Path) -> None:
    die = [sys.executable, "-c", KILLED.format("os.kill(os.getpid(), signal.SIGKILL)"), str(tmp_path / "dead")]
    assert subprocess.run(die, check=False).returncode == -signal.SIGKILL
    (stale,) = tmp_path.glob(_atomic.DRAFTS)
    wait = [sys.executable, "-c", KILLED.format("print('ready', flush=True); input()"), str(tmp_path / "alive")]
    with subprocess.Popen(wait, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as living:
        assert living.stdout is not None
        living.stdout.readline()
        (tmp_path / ".other.tmp").touch()
        write_whole({str(tmp_path / "mine"): b"mine"})
        assert not stale.exists()
        living.communicate("go on\n", timeout=60)
    assert contents(tmp_path) == {"alive": b"half", "mine": b"mine", ".other.tmp": b""}
