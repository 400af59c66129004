"""Passwords and tokens in addresses, which nothing that is written or said may pass on."""

import re
import shlex
from urllib.parse import unquote, unquote_plus

MASK = "***"
ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+):/{1,2}", re.IGNORECASE)
"""How an address begins; a path that was made of one has lost a slash."""
IN_WORDS = re.compile(rf"{ADDRESS.pattern}[^\s'\"<>()]+", re.IGNORECASE)
"""An address in a sentence, where nobody says where it ends."""
DATABASES = ("postgres", "postgresql", "mysql")
"""Addresses whose passwords may hold any sign, so that the last @ ends them."""
NAMES = re.compile(r"pass|pwd|secret|token|signature|credential|auth|key|(^|[-_])(sig|sas|pw)$", re.IGNORECASE)
"""What the value of a parameter is called that nobody may see."""
PARAMETER = re.compile(r"(?P<name>[\w.-]+)=(?P<value>[^&#\s;]*)")


def masked(text: str) -> str:
    """Return a text without the passwords and tokens of the addresses in it.

    A text that begins with an address is one address, whatever signs it has.

    >>> masked("postgres://me:pass word@host/data#runs")
    'postgres://me:***@host/data#runs'
    >>> masked("see https://example.org/runs.csv?week=3&token=abc now")
    'see https://example.org/runs.csv?week=3&token=*** now'
    """
    if ADDRESS.match(text):
        return _without(text, secrets_of(text))
    return IN_WORDS.sub(lambda found: _without(found[0], secrets_of(found[0])), text)


def secrets_of(address: str) -> list[str]:
    """Return the passwords and tokens in an address, as they are written there."""
    begin = ADDRESS.match(address)
    if begin is None:
        return []
    scheme, rest = begin[1].lower(), address[begin.end() :]
    host = rest if scheme in DATABASES else re.split(r"[/?#]", rest, maxsplit=1)[0]
    user, has_user, _ = host.rpartition("@")
    name, has_password, password = user.partition(":")
    found = [password] if has_password else [name] if has_user and scheme in ("http", "https") else []
    _, has_query, query = rest[len(user) :].partition("?")
    if has_query:
        found += [each["value"] for each in PARAMETER.finditer(query) if NAMES.search(each["name"])]
    return [secret for secret in found if secret]


def without_secrets(text: str, address: str) -> str:
    """Return what was said about an address without its secrets, also where they are said decoded."""
    secrets = secrets_of(address)
    decoded = [form(secret) for secret in secrets for form in (unquote, unquote_plus)]
    return _without(masked(text), [*secrets, *decoded])


def masked_command(command: str) -> tuple[str, bool]:
    """Return a command line without secrets, and whether it had any."""
    try:
        words = shlex.split(command)
    except ValueError:
        return masked(command), masked(command) != command
    hidden = [_masked_word(word) for word in words]
    return (shlex.join(hidden), True) if hidden != words else (command, False)


def _masked_word(word: str) -> str:
    """Mask a word of a command, which may be an option with an address behind it."""
    found = ADDRESS.search(word)
    return word[: found.start()] + masked(word[found.start() :]) if found else word


def _without(text: str, secrets: list[str]) -> str:
    for secret in sorted(secrets, key=len, reverse=True):
        # A short secret may be a part of other words by chance, and is looked for where one stands in an address only.
        form = re.escape(secret)
        text = re.sub(form if len(secret) > 3 else rf"(?<=[:=/]){form}(?=[@&#;\s'\")]|$)", MASK, text)
    return text
