"""Optional packages, loaded where they are needed."""

from importlib import import_module
from types import ModuleType

from truecount.errors import MissingExtraError


def load(module: str, *, feature: str, extra: str) -> ModuleType:
    """Import `module`, or say which extra to install for `feature`."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise  # the package is there, but something that it needs is not
        raise MissingExtraError(feature, extra) from error
