"""Advice that each door gives in its own words: keywords in Python, options on the command line, neither on a page."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

Door: TypeAlias = Literal["python", "estimate", "check", "plan", "counts", "demo", "app"]
"""Python, or a verb of the command."""


@dataclass(frozen=True, slots=True)
class Action:
    """Something that can be done, as it is written in Python, on the command line and on a page.

    Parameters
    ----------
    python, command
        What to write; what cannot be done through a door has no words there.
    verb
        The only verb of the command that has the option, if not all have it.
    page
        What a reader is told who has neither at hand; left out, what the maker of the page would write.
    """

    python: str
    command: str
    verb: str = ""
    page: str = ""

    def words(self, door: Door) -> str:
        """Return what to write."""
        if door == "python":
            return self.python
        return self.command if self.verb in ("", door) else f"truecount {self.verb} {self.command}"


class Advice(str):
    """A sentence with actions in it: text in Python's words wherever text is expected, and others on request.

    >>> advice = Advice("Use {}, or label more items of {}.", AUTO, "pass")
    >>> print(advice, advice.words("estimate"), sep=chr(10))
    Use Auto(), or label more items of pass.
    Use --engine auto, or label more items of pass.
    """

    __slots__ = ("door", "parts", "template")
    template: str
    parts: tuple[str | Action, ...]
    door: Door

    def __new__(cls, template: str, *parts: "str | Action", door: Door = "python") -> "Advice":
        """Put the parts where the template has ``{}``."""
        said = [part.words(door) if isinstance(part, Action) else part for part in parts]
        words = super().__new__(cls, template.format(*said))
        words.template, words.parts, words.door = template, parts, door
        return words

    def __reduce__(self) -> tuple[Callable[..., "Advice"], tuple[object, ...]]:
        return partial(Advice, door=self.door), (self.template, *self.parts)

    def words(self, door: Door) -> "Advice":
        """Return the sentence in the words of a door."""
        return Advice(self.template, *self.parts, door=door)

    def on_page(self) -> str:
        """Return the sentence in the words of a page.

        >>> Advice("Use {} before comparing groups.", JOINT).on_page()
        'Use joint draws of all groups before comparing groups.'
        """
        said = [(part.page or part.words(self.door)) if isinstance(part, Action) else part for part in self.parts]
        return self.template.format(*said)


def worded(advice: str, door: Door) -> str:
    """Return advice in the words of a door; that without actions is the same everywhere."""
    return advice.words(door) if isinstance(advice, Advice) else advice


ALL_CLASSES = Action("classes=[...]", "--outputs-are-classes", page="name every class when counting")
AUTO = Action("Auto()", "--engine auto", page="the default")
HAMILTONIAN = Action("Hamiltonian()", "--engine hamiltonian")
MORE_TIME = Action(", or give it longer with Auto(budget=...)", "", page=", or give it longer")
JOINT = Action("infer(groups)", "--by", "estimate", page="joint draws of all groups")
NOT_JOINT = Action("Take the groups one by one", "Take the groups one by one")
SHORTEST = Action("interval(kind='hdi')", "--interval hdi", "estimate", page="the highest-density one")
AUDIT = Action("check(..., audit=...)", "--audit FILE", "check")
BOTH_LABELS = Action(
    "infer(counts, TargetLabels(labeled=...))",
    "--target-labels FILE",
    "estimate",
    page="an answer that uses them beside the others",
)
PASS_AUDIT = Action("pass them as audit=...", "pass them as --audit FILE", page="check the answer against them")
PRIOR_OF_ROWS = Action(
    "every class's rate with its range, Prior.published(...), or as known, Prior.known_confusion(...)",
    "--sensitivity and --specificity",
)
USE_POSTERIOR = Action("Use infer()", "Leave --method out", "estimate")
OWN_ENGINE = Action(
    "Leave it out, or pass Auto(effective_draws=...)", "Leave --engine out; --draws says how many draws"
)
NO_LEARNED_SHARES = Action("Leave prevalence out, and use Pooled()", "Leave --prior out: groups learn by themselves")
FIXED_SHARES = Action("Pass a number, such as prevalence=1", "Write a number, such as --prior 1")
LEARNED_SHARES = Action("has prevalence='learned'", "is 'learned'")
OF_COUNTS = Action("Keep the classifier's probabilities in Scores(...), or choose", "Choose")
KNOWN_ERRORS = Action(
    "ErringLabels(known=...) or ErringLabels(validation=...)",
    "their error rate, or a file of labels beside true classes, as --label-error",
    "estimate",
)
PLAIN_MODEL = Action(", or pass LabelShift()", ", or name one --label and no --label-error")
OTHER_INTERVALS = Action("use bootstrap() or infer()", "leave --method out")
RANDOM_SAMPLE = Action("model=SamePopulation()", "--design same-population")
ASSURANCE = Action("pass Goal.narrow(..., assurance=0.8)", "add --assurance 80%", "plan")
RESUME = Action("Output(..., resume=True)", "--resume", "estimate")
POSTERIOR = Action("infer()", "the posterior, without --method", "estimate")


def keyword(name: str, value: object) -> Action:
    """Return the action of passing an argument that is an option of the same name; one of a list is repeated.

    >>> keyword("missing", ["NA", ""]).command
    "--missing 'NA' --missing ''"
    """
    values = value if isinstance(value, list) else [value]
    return Action(f"{name}={value!r}", " ".join(f"--{name} {each!r}" for each in values))


def several(name: str, columns: list[str]) -> Action:
    """Return the action of passing several columns, which the command takes with commas between them.

    >>> several("cluster", ["model", "question"]).command
    '--cluster model,question'
    """
    return Action(f"{name}={columns!r}", f"--{name} {','.join(columns)}")


def period(column: str, frequency: str) -> Action:
    """Return the action of grouping by periods of a column of times."""
    return Action(f"by={{{column!r}: {frequency!r}}}", f"--by {column}:{frequency}")


def named_rows(name: str) -> Action:
    """Return the action of choosing a prior of the confusion by its name."""
    return Action(f"Prior(confusion={name!r})", f"--prior-confusion {name}", page=f"a {name} prior of the confusion")


def naming(argument: str) -> Action:
    """Return the action of naming every class or output."""
    return Action(f"with count(..., {argument}=[...])", "in the file")
