"""Who may ask: this machine's own page with the token, by a name of this machine, and nobody else.

* The name in ``Host`` must be one of this server: a page that rebinds its own name to 127.0.0.1 is refused.
* ``Origin`` and ``Sec-Fetch-Site``, where a browser sends them, must say that the page itself asks.
* All that computes or reads needs the token, which the page sends in a header of its own. It is not a cookie, because
  cookies of 127.0.0.1 go to every port, also to one that another user of the machine listens on.
* Nothing is answered to a body that is larger than its limit, whether or not it says so at the start.
"""

import hmac
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - names what the user may ask for
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}
MOST_REQUEST = 32 * 2**20
"""Bytes of a request that is no upload: counts of very many groups."""


class TooLargeError(Exception):
    """A body is larger than its limit, though it did not say so; the server answers it as `refuse_too_large` says."""


async def refuse_too_large(request: "Request", error: Exception) -> "Response":
    """Answer a body that grew beyond its limit, and hang up."""
    from starlette.responses import PlainTextResponse

    return PlainTextResponse(f"Refused: {error}.\n", 413, headers={"connection": "close"})


@dataclass(frozen=True, slots=True)
class Guard:
    """What stands before the server.

    Parameters
    ----------
    app
        The server.
    token
        What those who may ask know.
    host, port
        Where it listens.
    most_upload
        Bytes of a file that is sent; other bodies have a limit of their own.
    """

    app: "ASGIApp"
    token: str
    host: str
    port: int
    most_upload: int

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Refuse, or pass on with headers that bind the browser."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def with_headers(message: "Message") -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message.get("headers", [])}
                ours = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message.get("headers", []), *(each for each in ours if each[0] not in given)]
            await send(message)

        refusal = self.refusal(scope)
        if refusal is not None:
            await _refuse(with_headers, *refusal)
            return
        await self.app(scope, self._limited(scope, receive), with_headers)

    def refusal(self, scope: "Scope") -> tuple[int, str] | None:
        """Return why a request is refused, with its status; None where it is not."""
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if not self._is_ours(headers.get("host", "")):
            return 421, "this server has another name"
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "same-origin")
        is_navigation = scope["method"] == "GET" and headers.get("sec-fetch-mode") == "navigate"
        if origin is not None and origin != f"http://{headers.get('host', '')}":
            return 403, "another page asks"
        if site not in ("same-origin", "none") and not is_navigation:
            return 403, "another page asks"
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return 405, "no such method"
        if not scope["path"].startswith("/api/"):
            return None
        if scope["method"] != "POST":
            return 405, "ask by POST"
        if not hmac.compare_digest(headers.get("authorization", "").encode(), f"Bearer {self.token}".encode()):
            return 401, "the token is missing or wrong"
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > self._limit(scope):
            return 413, self._too_large(scope)
        return None

    def _is_ours(self, host: str) -> bool:
        """Whether this is a name of this server; where it listens everywhere, any address in numbers is."""
        name, _, port = host.rpartition(":")
        name = name.removeprefix("[").removesuffix("]").lower()
        if port != str(self.port):
            return False
        if name in (*LOOPBACK, self.host.lower()):
            return True
        return self.host in EVERYWHERE and _is_address(name)

    def _limit(self, scope: "Scope") -> int:
        return self.most_upload if scope["path"] == "/api/upload" else MOST_REQUEST

    def _too_large(self, scope: "Scope") -> str:
        return f"larger than {self._limit(scope) // 2**20} MB"

    def _limited(self, scope: "Scope", receive: "Receive") -> "Receive":
        """Count what comes in, whatever its length was said to be."""
        left = self._limit(scope)

        async def limited() -> Any:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise TooLargeError(self._too_large(scope))
            return message

        return limited


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


async def _refuse(send: "Send", status: int, why: str) -> None:
    body = f"Refused: {why}.\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*headers, (b"connection", b"close")]})
    await send({"type": "http.response.body", "body": body})
