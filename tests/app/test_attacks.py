"""Attacks on the server, each tried as it would be made, and refused."""

import json
import os
import socket
import stat
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPResponse
from pathlib import Path
from time import sleep
from typing import Any

import pytest

NEEDED = "could not import it: needs the extra app"
pytest.importorskip("starlette", reason=NEEDED)
pytest.importorskip("uvicorn", reason=NEEDED)

from served import TOKEN, Served, served  # noqa: E402
from truecount.app.guard import Guard  # noqa: E402

LIMIT = 200_000
SURVEY = {"survey": {"positive": ["5/50"], "sensitivity": ["9/10"], "specificity": ["9/10"]}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("named")
    (place / "runs.csv").write_text("human,verdict\npass,pass\nfail,pass\n,pass\n,fail\n")
    (place / "sub").mkdir()
    (place / "sub" / "more.csv").write_text("a,b\n1,2\n")
    outside = tmp_path_factory.mktemp("elsewhere") / "secret.csv"
    outside.write_text("secret,word\nopen,sesame\n")
    (place / "link.csv").symlink_to(outside)
    (place / "linked").symlink_to(outside.parent)
    return place


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Served]:
    with served(folder, most_upload=LIMIT) as found:
        yield found


def test_the_page_itself_is_answered(server: Served) -> None:
    assert "result" in server.ask("answer", SURVEY)
    assert server.ask("start", {})["most_upload"] == LIMIT


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1"])
@pytest.mark.parametrize("path", ["/api/answer", "/api/start", "/"])
def test_a_foreign_origin_is_refused_even_with_the_token(server: Served, origin: str, path: str) -> None:
    status, headers, body = server.send("POST" if "api" in path else "GET", path, "{}", {"Origin": origin})
    assert (status, body) == (403, b"Refused: another page asks.\n")
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_browser_that_says_another_page_asks_is_refused(server: Served, site: str) -> None:
    headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"}
    assert server.send("POST", "/api/answer", json.dumps(SURVEY), headers)[0] == 403
    assert server.send("GET", "/main.js", headers=headers)[0] == 403


def test_a_preflight_is_not_allowed(server: Served) -> None:
    status, headers, _ = server.send("OPTIONS", "/api/answer", headers={"Access-Control-Request-Method": "POST"})
    assert status == 405
    assert not [name for name in headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "", "localhost.evil:{port}"]
)
@pytest.mark.parametrize("path", ["/", "/api/start"])
def test_a_name_that_was_rebound_to_this_machine_is_refused(server: Served, host: str, path: str) -> None:
    headers = {"Host": host.format(port=server.port)}
    status, _, body = server.send("POST" if "api" in path else "GET", path, None, headers)
    assert (status, body) == (421, b"Refused: this server has another name.\n")


def test_names_of_this_machine_are_its_own() -> None:
    guard = Guard(lambda *_: None, token="t", host="127.0.0.1", port=80, most_upload=1)  # type: ignore[arg-type,return-value]  # noqa: S106
    every = Guard(lambda *_: None, token="t", host="0.0.0.0", port=80, most_upload=1)  # type: ignore[arg-type,return-value]  # noqa: S104, S106
    assert all(guard._is_ours(host) for host in ("127.0.0.1:80", "localhost:80", "[::1]:80", "LOCALHOST:80"))
    assert not any(guard._is_ours(host) for host in ("192.168.1.2:80", "here:80"))
    assert every._is_ours("192.168.1.2:80")
    assert not every._is_ours("evil.example:80")


@pytest.mark.parametrize("token", [None, "", "wrong", TOKEN[:-1], TOKEN + "x", TOKEN.upper()])
@pytest.mark.parametrize("task", ["start", "answer", "preview", "count", "upload?name=a.csv", "forget", "save", "plan"])
def test_another_user_of_the_machine_without_the_token_gets_nothing(
    server: Served, token: str | None, task: str
) -> None:
    status, _, body = server.send("POST", f"/api/{task}", json.dumps(SURVEY), token=token)
    assert (status, body) == (401, b"Refused: the token is missing or wrong.\n")


@pytest.mark.parametrize("path", ["/api/start?token={token}", "/api/answer?token={token}"])
def test_a_token_in_an_address_or_a_cookie_opens_nothing(server: Served, path: str) -> None:
    headers = {"Cookie": f"truecount-token={TOKEN}"}
    assert server.send("POST", path.format(token=TOKEN), "{}", headers, token=None)[0] == 401


def test_the_page_tells_nothing_to_who_has_no_token(server: Served, folder: Path) -> None:
    for name in ("/", "/main.js", "/ask.js", "/style.css", "/icon.svg"):
        status, _, body = server.send("GET", name, token=None)
        assert status == 200
        assert TOKEN.encode() not in body
        assert str(folder).encode() not in body


@pytest.mark.parametrize(
    "path",
    [
        "/../../../../etc/passwd",
        "/..%2f..%2fserver.py",
        "/%2e%2e/server.py",
        "/static/index.html",
        "/server.py",
        "/app.css/../../server.py",
        "//etc/passwd",
        "/..\\server.py",
        "/index.html%00.css",
    ],
)
def test_no_path_of_the_server_leads_out_of_its_pages(server: Served, path: str) -> None:
    status, _, body = server.send("GET", path)
    assert status == 404
    assert b"root:" not in body
    assert b"import" not in body


OUTSIDE = [
    "/etc/passwd",
    "{folder}/../elsewhere0/secret.csv",
    "{folder}/link.csv",
    "{folder}/linked",
    "{folder}/linked/secret.csv",
    "{folder}/linked/*.csv",
    "{folder}/../*/*.csv",
    "{folder}/*.csv",
    "../../../../etc/*",
    "/etc",
    "/",
    "~/.ssh",
    "",
    " ",
    "file:///etc/passwd",
    "http://127.0.0.1:1/x.csv",
    "s3://bucket/x.csv",
    "sqlite:///etc/x.db#t",
    "/dev/stdin",
    "/proc/self/environ",
    "{folder}/runs.csv\0.txt",
    "upload:../../etc/passwd",
    "upload:0000/runs.csv",
    "example:../judge",
]


@pytest.mark.parametrize("task", ["preview", "count"])
@pytest.mark.parametrize("place", OUTSIDE)
def test_no_file_is_read_that_was_not_named(server: Served, folder: Path, place: str, task: str) -> None:
    values = {"place": place.format(folder=folder), "label": ["secret"], "prediction": ["word"]}
    told = server.ask(task, values)
    assert set(told) == {"error"}
    assert "sesame" not in json.dumps(told)
    assert "root:" not in json.dumps(told)


@pytest.mark.parametrize("place", [each for each in OUTSIDE if each])
def test_no_file_is_read_as_the_population_that_was_not_named(server: Served, folder: Path, place: str) -> None:
    values = {"place": f"{folder}/runs.csv", "population": place.format(folder=folder)}
    told = server.ask("count", {**values, "label": ["human"], "prediction": ["verdict"]})
    assert set(told) == {"error"}
    assert "sesame" not in json.dumps(told)
    assert "root:" not in json.dumps(told)


@pytest.mark.parametrize(
    "place", ["{folder}/runs.csv", "{folder}/sub/more.csv", "{folder}/sub/../runs.csv", "{folder}/sub"]
)
def test_what_lies_inside_a_named_folder_is_read(server: Served, folder: Path, place: str) -> None:
    assert server.ask("preview", {"place": place.format(folder=folder)})["result"]["kind"] == "rows"


@pytest.mark.parametrize("values", [None, [], 5, {}, {"place": 5}, {"place": ["a"]}])
def test_what_is_no_name_of_a_file_is_refused(server: Served, values: Any) -> None:
    assert "error" in server.ask("preview", values)


def files_of(server: Served) -> list[Path]:
    return list(server.desk.uploads.folder.iterdir())


def in_the_end(server: Served, files: list[Path]) -> bool:
    """Whether these files are left, at the latest after a minute."""
    return any(files_of(server) == files or sleep(0.05) for _ in range(1200))


def begun(server: Served, path: str, header: str) -> socket.socket:
    """Begin a request whose header says how its body comes."""
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=30)
    lines = [f"POST {path} HTTP/1.1", f"Host: 127.0.0.1:{server.port}", f"Authorization: Bearer {TOKEN}"]
    connection.sendall("\r\n".join([*lines, header, "", ""]).encode())
    return connection


def answered(connection: socket.socket) -> tuple[int, bytes]:
    """Return status and body of what is answered."""
    with HTTPResponse(connection) as answer:
        answer.begin()
        return answer.status, answer.read()


def chunk(size: int) -> bytes:
    return f"{size:x}\r\n".encode() + b"x" * size + b"\r\n"


def test_an_upload_that_says_it_is_too_large_is_refused_unread(server: Served) -> None:
    before = files_of(server)
    with begun(server, "/api/upload?name=a.csv", f"Content-Length: {10**12}") as connection:
        assert answered(connection)[0] == 413
    assert files_of(server) == before


def test_an_upload_that_does_not_say_so_is_refused_where_it_passes_the_limit(server: Served) -> None:
    before = files_of(server)
    with begun(server, "/api/upload?name=a.csv", "Transfer-Encoding: chunked") as connection:
        for _ in range(LIMIT // 10_000):
            connection.sendall(chunk(10_000))
        connection.sendall(chunk(1))
        assert answered(connection) == (413, b"Refused: larger than 0 MB.\n")
    assert in_the_end(server, before)


def test_an_upload_of_the_size_of_the_limit_is_taken(server: Served) -> None:
    with begun(server, "/api/upload?name=a.csv", "Transfer-Encoding: chunked") as connection:
        connection.sendall(chunk(LIMIT) + chunk(0))
        status, told = answered(connection)
    assert status == 200
    server.send("POST", "/api/forget", told)


def test_who_goes_on_sending_is_cut_off(server: Served) -> None:
    before = files_of(server)
    with begun(server, "/api/upload?name=a.csv", "Transfer-Encoding: chunked") as connection, suppress(OSError):
        for _ in range(100_000):
            connection.sendall(chunk(10_000))
        pytest.fail("a gigabyte was taken")
    assert in_the_end(server, before)


def test_an_upload_in_broken_chunks_is_refused_and_deleted(server: Served) -> None:
    before = files_of(server)
    with begun(server, "/api/upload?name=a.csv", "Transfer-Encoding: chunked") as connection:
        connection.sendall(b"no length of a chunk\r\n")
        assert answered(connection)[0] == 400
    assert in_the_end(server, before)


def test_an_upload_that_stops_half_way_is_deleted(server: Served) -> None:
    before = files_of(server)
    with begun(server, "/api/upload?name=a.csv", "Content-Length: 1000") as connection:
        connection.sendall(b"human,verdict\n")
    assert in_the_end(server, before)


def test_a_request_that_is_too_large_is_refused(server: Served) -> None:
    assert server.send("POST", "/api/answer", b" " * (33 * 2**20))[0] in (0, 413)
    with begun(server, "/api/answer", f"Content-Length: {33 * 2**20}") as connection:
        assert answered(connection)[0] == 413


@pytest.mark.parametrize("name", ["run.sh", "a.html", "a", "", ".csv/", "a.exe.gz", "a.parquet.gz.sh"])
def test_a_file_of_another_kind_is_refused(server: Served, name: str) -> None:
    before = files_of(server)
    assert server.send("POST", f"/api/upload?name={name}", b"human,verdict\n")[0] == 400
    assert files_of(server) == before


def test_an_upload_lies_where_its_name_cannot_lead(server: Served) -> None:
    name = "..%2F..%2Fetc%2Fcron.csv"
    status, _, body = server.send(
        "POST", f"/api/upload?name={name}", b"human,verdict\npass,pass\nfail,fail\n,pass\n,fail\n"
    )
    assert status == 200
    place = json.loads(body)["place"]
    assert place.endswith("/cron.csv")
    path = Path(server.desk.path(place))
    assert path.parent == server.desk.uploads.folder
    assert stat.S_IMODE(os.stat(path.parent).st_mode) == 0o700
    assert server.ask("preview", {"place": place})["result"]["label"] == "human"
    server.send("POST", "/api/forget", json.dumps({"place": place}))
    assert not path.exists()
    assert "error" in server.ask("preview", {"place": place})


def test_only_some_uploads_are_kept(server: Served) -> None:
    places = []
    for number in range(12):
        body = server.send("POST", f"/api/upload?name=n{number}.csv", b"a,b\n1,2\n")[2]
        places.append(json.loads(body)["place"])
    assert len(files_of(server)) == 8
    assert "error" in server.ask("preview", {"place": places[0]})
    assert "result" in server.ask("preview", {"place": places[-1]})


def test_the_browser_is_bound_by_headers(server: Served) -> None:
    for method, path in (("GET", "/"), ("GET", "/nothing"), ("POST", "/api/start"), ("PUT", "/api/start")):
        headers = server.send(method, path, "{}")[1]
        policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert "unsafe" not in headers["content-security-policy"]
        assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
        assert "set-cookie" not in headers


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_tasks_are_asked_for_by_post_alone(server: Served, method: str) -> None:
    assert server.send(method, "/api/answer")[0] == 405


@pytest.mark.parametrize("body", [b"", b"{", b"[" * 100_000, b"\xff\xfe", b"null", b'{"survey": 5}'])
def test_what_is_no_request_is_answered_with_an_error(server: Served, body: bytes) -> None:
    status, _, told = server.send("POST", "/api/answer?job=odd", body)
    while b"progress" in told:
        status, _, told = server.send("POST", "/api/job", b'{"job": "odd"}')
    assert status == 200
    assert set(json.loads(told)) == {"error"}
