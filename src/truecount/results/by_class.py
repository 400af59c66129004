"""Classes by their name, and what was perhaps meant by a name that is none."""

from collections.abc import Collection

from truecount._types import FloatArray, Name
from truecount._wording import nearest, quoted
from truecount.errors import InputError


class ByClass(dict[Name, FloatArray]):
    """Draws by class name."""

    def __missing__(self, name: Name) -> FloatArray:
        raise unknown_class("event", f"asks for {name!r}", name, self)


def unknown_class(
    argument: str, found: str, name: Name, classes: Collection[Name], kind: str = "classes"
) -> InputError:
    """Return the error for a name that is no class, or nothing else of a kind."""
    by_text = {str(known): known for known in classes}
    meant = nearest(str(name), by_text)
    remedy = f"Perhaps you meant {by_text[meant]!r}" if meant else "Choose one of these"
    return InputError(argument, found, f"the {kind} are {quoted(classes)}", remedy)
