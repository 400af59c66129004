"""The program as a user starts it: its first line, its end, and what it says where something is missing."""

import http.client
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from time import sleep
from urllib.parse import parse_qs, urlsplit

import pytest

from command import COMMAND, interruptible, run
from truecount.app import server
from truecount.cli.options import DESIGNS

NEEDED = "could not import it: needs the extra app"
pytest.importorskip("starlette", reason=NEEDED)
pytest.importorskip("uvicorn", reason=NEEDED)


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)], ids=["ctrl-c", "terminate"]
)
def test_it_prints_its_address_first_and_ends_cleanly(tmp_path: Path, number: int) -> None:
    with interruptible():
        words = [*COMMAND, "app", "--port", "0", "--no-open"]
        program = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert program.stdout is not None
        address = urlsplit(program.stdout.readline().strip())
        assert (address.scheme, address.hostname) == ("http", "127.0.0.1")
        token = parse_qs(address.query)["token"][0]
        assert len(token) >= 32
        connection = http.client.HTTPConnection("127.0.0.1", address.port or 0, timeout=30)
        connection.request("POST", "/api/start", "{}", {"Authorization": f"Bearer {token}"})
        assert connection.getresponse().status == 200
        connection.close()
        program.send_signal(number)
        out, errors = program.communicate(timeout=60)
        assert (program.returncode, out) == (0, "")
        assert errors.strip() == "Open this address in a browser on this machine. Ctrl-C ends the program."
    finally:
        program.kill()


def test_it_sends_the_browser_there(tmp_path: Path) -> None:
    seen, opener = tmp_path / "seen", tmp_path / "opener"
    opener.write_text(f'#!/bin/sh\nprintf %s "$1" > {seen}.part && mv {seen}.part {seen}\n')
    opener.chmod(0o755)
    words, environment = [*COMMAND, "app"], {**os.environ, "BROWSER": str(opener)}
    program = subprocess.Popen(
        words, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert program.stdout is not None
        address = program.stdout.readline().strip()
        assert any(seen.exists() or sleep(0.05) for _ in range(600))
        assert seen.read_text() == address
    finally:
        program.terminate()
        program.communicate(timeout=60)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing.csv"], "nothing.csv does not exist"),
        (["s3://bucket/a.csv"], "is an address"),
        (["--port", "70000"], "--port is '70000'"),
        (["--port", "x"], "--port is 'x'"),
        (["--host", "no.such.host.invalid"], "cannot be used"),
    ],
)
def test_what_cannot_be_served_is_refused(arguments: list[str], words: str, tmp_path: Path) -> None:
    done = run("app", "--no-open", *arguments, folder=tmp_path)
    assert done.returncode == 1
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_missing_extra_names_what_to_install(tmp_path: Path) -> None:
    code = "import sys; sys.modules['uvicorn'] = None; sys.argv = ['truecount', 'app', '--no-open']"
    code += "; from truecount.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'truecount[app]'" in done.stderr


def test_the_door_is_loaded_only_when_it_is_asked_for(tmp_path: Path) -> None:
    code = "import sys; sys.argv = ['truecount', 'demo']; from truecount.cli import main; main()"
    check = "assert not {'starlette', 'uvicorn', 'truecount.app'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", f"{code}\n{check}"], cwd=tmp_path, check=True, capture_output=True)


def test_the_page_offers_every_design():
    text = (Path(server.__file__).parent / "static" / "main.js").read_text(encoding="utf-8")
    listed = text.partition("const DESIGNS = [")[2].partition("\n];")[0]
    assert re.findall(r'^  \["([a-z-]+)",', listed, flags=re.MULTILINE) == list(DESIGNS)
