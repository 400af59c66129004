"""The verb `report`: a page that holds all it needs, written whole or not at all."""

from collections.abc import Sequence
from os import PathLike

from truecount import _check
from truecount._atomic import require_writable, whole_file
from truecount._types import Name
from truecount.page.answer import TITLE, render
from truecount.page.groups import render_groups
from truecount.results import Posterior
from truecount.results.groups.posterior import GroupPosterior
from truecount.results.groups.summary import Questions
from truecount.results.summary import Kind, Look, Table, Target


def report(
    posterior: Posterior | GroupPosterior,
    path: str | PathLike[str],
    *,
    level: float = 0.95,
    kind: Kind = "equal-tailed",
    target: Target = "population",
    classes: Sequence[Name] | None = None,
    title: str = TITLE,
    command: str | None = None,
    questions: Questions | None = None,
    classifiers: Table | None = None,
) -> None:
    """Write the answer as one HTML page: a sentence, a table, a picture, findings, method, and how to reproduce it.

    Parameters
    ----------
    posterior
        What `truecount.infer` returned; of groups, the page has one class: the only one in `classes`, or the one that
        its summary chooses.
    path
        Where to write; what stood there is replaced only when the new page is whole.
    level, kind, target
        Of the interval, as in `Posterior.interval`.
    classes
        Which classes the table has, in this order; all by default. A single one has the sentence for itself.
    title
        The heading.
    command
        What was typed to get this answer, for whoever wants to reproduce it; Python that does is always given.
    questions
        Of groups: what else is asked, such as a baseline.
    classifiers
        What each of several classifiers adds: ``each_classifier(counts).table()``.

    Notes
    -----
    The page loads nothing from anywhere and runs no script. Same posterior, same version: same page.

    Examples
    --------
    >>> import truecount as tc
    >>> counts = tc.Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"])
    >>> report(tc.infer(counts, seed=1), getfixture("tmp_path") / "report.html")
    """
    _check.instance_of("posterior", posterior, (Posterior, GroupPosterior), "Pass what infer() returned")
    require_writable(path)
    if isinstance(posterior, GroupPosterior):
        questions = questions or Questions(of=classes[0] if classes else None)
        summary = posterior.summary(level, kind=kind, target=target, questions=questions)
        page = render_groups(posterior, summary, title=None if title == TITLE else title, command=command)
    else:
        look = Look(level=level, kind=kind, target=target)
        page = render(posterior, look, classes=classes, title=title, command=command, classifiers=classifiers)
    with whole_file(path) as stream:
        stream.write(page.encode(errors="backslashreplace"))
