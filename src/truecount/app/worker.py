"""One process that works: it is sent a task, tells how far it is, and sends back bytes that go to the page as they are.

Work has a process of its own so that it can be stopped whatever it is doing, so that memory returns with it, and
because pictures and warnings use state of the whole process.
"""

import json
import os
import signal
import warnings
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from truecount._advice import worded
from truecount._progress import progress_to
from truecount._secrets import masked
from truecount._wording import visible
from truecount.errors import InputError, MissingExtraError, TruecountWarning

FIRST = {"survey": {"positive": ["5/50"], "sensitivity": ["9/10"], "specificity": ["9/10"]}}
"""What a new worker answers for itself, so that all modules are loaded before somebody waits."""


def serve(connection: Connection, niceness: int) -> None:
    """Do one task after the other, until the other end is closed; let others go first by so much."""
    if niceness and hasattr(os, "nice"):
        os.nice(niceness)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError, OSError):
        while True:
            task, values = connection.recv()
            with progress_to(lambda what, share: connection.send(("progress", what, share))):
                made = perform(task, values)
            connection.send(("done", *made))


def perform(task: str, values: Any) -> tuple[str, bytes]:
    """Return the kind of what a task makes, ``json``, ``file.`` with an ending, or ``error``, and its bytes."""
    from click import BadParameter

    from truecount.app.tasks import TASKS

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TruecountWarning)  # findings say the same
            made = TASKS[task](values)
    except InputError as error:
        return "error", _json(told(error))
    except BadParameter as error:
        return "error", _json({"argument": "", "message": visible(masked(error.message))})
    except (MissingExtraError, OSError, MemoryError) as error:
        return "error", _json({"argument": "", "message": visible(masked(str(error) or "Out of memory."))})
    return made if isinstance(made, tuple) else ("json", _json(made))


def told(error: InputError) -> dict[str, str]:
    """Return an error in its four parts, and in a sentence."""
    argument = error.argument.removeprefix("--").replace("_", "-")
    parts = (argument, error.found, error.needed, worded(error.remedy, "estimate"))
    names = ("argument", "found", "needed", "remedy")
    clean = [visible(masked(part)) for part in parts]
    return dict(zip(names, clean, strict=True)) | {"message": str(InputError(*clean))}


def _json(values: Any) -> bytes:
    return json.dumps(values, ensure_ascii=False, allow_nan=False).encode(errors="backslashreplace")
