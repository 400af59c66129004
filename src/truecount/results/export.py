"""A result as plain values, as a file, as ArviZ's container."""

from os import PathLike
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from truecount.results.posterior import Posterior

SCHEMA = "truecount.estimate/1"


def to_dict(posterior: "Posterior", *, level: float, kind: str, target: str) -> dict[str, Any]:
    raise NotImplementedError


def to_arviz(posterior: "Posterior") -> Any:
    raise NotImplementedError


def save(posterior: "Posterior", path: str | PathLike[str]) -> None:
    raise NotImplementedError


def read(path: str | PathLike[str]) -> dict[str, Any]:
    raise NotImplementedError
