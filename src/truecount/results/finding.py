"""What a result says about itself that a reader should know."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

from truecount._advice import Door, worded

Severity: TypeAlias = Literal["info", "caution", "serious"]
ORDER: Mapping[Severity, int] = {"serious": 0, "caution": 1, "info": 2}
"""The gravest first."""
OF_METHOD = "method"
"""Code of what is true of a method whatever the data."""


@dataclass(frozen=True, slots=True)
class Declared:
    """What a code means: the documentation and the help of the command are made from this.

    Parameters
    ----------
    code
        The stable name.
    severity, otherwise, otherwise_by
        What it usually is; when it is something else, and by which verbs if not by all.
    by
        Which verbs of the library find it.
    tells
        What it tells, in a phrase.
    """

    code: str
    severity: Severity
    by: tuple[str, ...]
    tells: str
    otherwise: str = ""
    otherwise_by: tuple[str, ...] = ()

    @property
    def severities(self) -> tuple[str, ...]:
        """All that it may be."""
        return self.severity, *(name for name in ORDER if name in self.otherwise.split())

    @property
    def row(self) -> str:
        """The row of the table in the documentation."""
        severity = "; ".join(filter(None, (self.severity, self.otherwise)))
        return f"| `{self.code}` | {severity} | {', '.join(f'`{verb}`' for verb in self.by)} | {self.tells} |"

    @property
    def when_serious(self) -> str:
        """The code, and when it is serious if it is not usually."""
        return self.code if self.severity == "serious" else f"{self.code} ({self.otherwise.removeprefix('serious ')})"


DECLARED = (
    Declared(
        "label-shift-violated",
        "serious",
        ("infer", "estimate", "mode", "check"),
        "no mix of the labelled rows explains the unlabelled outputs",
        otherwise="in `check`, caution for p above 0.01, up to 0.05",
    ),
    Declared(
        "label-shift-untestable",
        "info",
        ("check",),
        "these counts cannot show whether the classifier still treats each class as it did",
    ),
    Declared(
        "confusion-drifted",
        "serious",
        ("check", "infer of groups"),
        "labels of several populations show that the classifier treats a class differently (audit, groups)",
        otherwise="caution for p above 0.01, up to 0.05",
    ),
    Declared(
        "not-identified",
        "caution",
        ("infer", "estimate", "mode"),
        "classes that the outputs cannot tell apart, and what is known of them together",
        otherwise="serious for points, which have no width",
        otherwise_by=("estimate", "mode"),
    ),
    Declared(
        "barely-identified",
        "caution",
        ("infer", "estimate", "mode"),
        "classes that the labels tell apart so faintly that shares are known to 20 points at best",
    ),
    Declared("prior-dominated", "caution", ("infer",), "a share almost as uncertain after the data as before"),
    Declared(
        "worse-than-chance", "caution", ("infer",), "outputs called like the classes are wrong more often than a coin"
    ),
    Declared("few-labels", "caution", ("infer",), "a class whose row prior weighs more than its labels"),
    Declared(
        "outputs-no-class",
        "caution",
        ("infer", "mode"),
        "three outputs or more are named like no labelled class, as classes without a label are",
    ),
    Declared("unlabeled-class", "caution", ("infer", "mode"), "a class without a single label"),
    Declared(
        "unseen-output",
        "caution",
        ("infer", "estimate", "mode"),
        "unlabelled items with an output that no labelled item has",
        otherwise="serious for most unlabelled items",
    ),
    Declared("no-unlabeled", "serious", ("infer", "mode"), "no unlabelled items, so the answer is the prior"),
    Declared(
        "names-alike",
        "caution",
        ("infer", "infer of groups", "estimate", "mode"),
        "classes, outputs or groups whose names differ in case or blanks only, and are counted apart",
    ),
    Declared(
        "weighted-counts",
        "info",
        ("infer", "infer of groups", "estimate", "mode"),
        "sums of weights, and how many items they are worth",
        otherwise="caution where weights look like numbers of items",
    ),
    Declared(
        "clustered",
        "info",
        ("infer", "infer of groups", "estimate", "mode"),
        "items that belong together, the design effect, and how many independent items they are worth",
        otherwise="caution for few clusters, or for one with most of the items",
    ),
    Declared(
        "shared-labels",
        "info",
        ("infer",),
        "a group that shares its labels with others and was drawn by itself: not to be compared",
    ),
    Declared(
        "labels-outweighed",
        "caution",
        ("infer of groups",),
        "groups drawn together move the confusion away from what its labels say",
        otherwise="serious if chance explains it less than 3 times in 1,000",
    ),
    Declared(
        "few-groups",
        "info",
        ("infer of groups",),
        "so few groups that the answer depends on the prior of how much they differ",
    ),
    Declared("one-group", "info", ("infer of groups",), "one group, with nothing to compare it with or to borrow from"),
    Declared(
        "few-studies",
        "info",
        ("infer of groups",),
        "so few studies that the answer depends on the prior of how much the confusion varies between them",
        otherwise="caution for three studies or fewer",
    ),
    Declared(
        "mostly-borrowed",
        "info",
        ("infer of groups",),
        "groups of which more is known from the others than from their own items",
    ),
    Declared(
        "group-without-items",
        "info",
        ("infer of groups",),
        "a group without unlabelled items: its answer is predicted from the others, or is the prior",
    ),
    Declared(
        "ends-rough",
        "info",
        ("infer of groups",),
        "an interval with so heavy a tail that an end would move with another seed",
    ),
    Declared(
        "labels-of-groups",
        "info",
        ("infer of groups",),
        "labels of the groups themselves that would also tell their shares, if they are random samples",
    ),
    Declared(
        "labels-by-output",
        "caution",
        ("infer", "estimate", "mode"),
        "labels that look as if labelling was stratified by output",
    ),
    Declared(
        "labels-may-err",
        "info",
        ("check",),
        "what wrong labels would do to a share (asked for with `label_error`)",
        otherwise="caution where a share would leave its interval",
    ),
    Declared(
        "rare-combinations",
        "info",
        ("infer",),
        "combinations of several classifiers' outputs too rare to learn from, merged with the nearest",
    ),
    Declared(
        "classifiers-dependent",
        "info",
        ("check", "infer"),
        "classifiers that err on the same items, given the true class",
        otherwise="serious where the answer takes them for independent",
    ),
    Declared("raters-err", "info", ("infer",), "labels of several raters, and how often each is inferred to err"),
    Declared("few-repeats", "caution", ("infer",), "so few items with two labels that error rates are mostly assumed"),
    Declared(
        "raters-err-together",
        "caution",
        ("infer",),
        "raters who agree more, or less, than independent errors explain",
    ),
    Declared(
        "raters-alike", "caution", ("infer",), "raters who gave every item the same label: perhaps one column twice"
    ),
    Declared(
        "designs-disagree",
        "info",
        ("check",),
        "label shift and a random sample of one population give different answers",
    ),
    Declared(
        "not-a-random-sample",
        "serious",
        ("infer", "infer of groups"),
        "labels said to be a random sample whose outputs differ from the population's",
    ),
    Declared(
        "prior-against-labels",
        "caution",
        ("infer",),
        "labels unlike what the prior of the rows expects; another prior explains them far better",
    ),
    Declared(
        "sources-combined",
        "info",
        ("infer",),
        "labels of the population and from elsewhere, and how much the latter count",
        otherwise="caution where they count for little",
    ),
    Declared("learned-prior", "info", ("infer",), "what the labels decided about the prior of the rows"),
    Declared(
        "prior-against-data", "serious", ("infer",), "the prior holds the answer away from all that fits the counts"
    ),
    Declared(
        "prior-sensitive",
        "caution",
        ("check",),
        "another prior (half, double, or one labels prefer) moves a share by 0.3 standard deviations",
    ),
    Declared(
        "edge-not-excluded",
        "caution",
        ("infer",),
        "a class may be absent, though its equal-tailed interval begins well above zero",
    ),
    Declared(
        "several-answers",
        "caution",
        ("infer",),
        "different answers that the counts allow, and what each says",
        otherwise="serious where chains do not agree on how probable each is",
    ),
    Declared(
        "not-converged",
        "serious",
        ("infer", "mode"),
        "draws that have not converged, or a mode that was not reached",
        otherwise="caution for R-hat up to 1.05",
    ),
    Declared("mode-not-unique", "caution", ("mode",), "a mode that is one of many as high"),
    Declared("mode-has-rival", "caution", ("mode",), "a mode far from this one that is nearly as high"),
    Declared(
        "scores-off-average",
        "serious",
        ("Recalibrated.adapt",),
        "corrected probabilities whose average is not the share that was inferred",
    ),
    Declared(
        "scores-in-cells",
        "info",
        ("infer",),
        "why scores were sorted into cells instead of being calibrated",
        otherwise="caution where no calibration fits",
    ),
    Declared("outside-simplex", "caution", ("estimate",), "an unrestricted estimate below 0 or above 1"),
    Declared(OF_METHOD, "caution", ("estimate",), "what is true of a method whatever the data"),
)
CODES: Mapping[str, Declared] = {each.code: each for each in DECLARED}
"""Every code that a finding may have; `docs/guides/findings.md` says more."""


def serious_codes(*verbs: str) -> str:
    """Return what these verbs may find to be serious, for the help of the command."""
    found = [
        each for each in DECLARED if "serious" in each.severities and set(verbs) & set(each.otherwise_by or each.by)
    ]
    return ", ".join(each.when_serious for each in found)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know before relying on a result.

    Parameters
    ----------
    code
        Stable name, one of `CODES`, such as ``"not-converged"``.
    severity
        ``"info"``, ``"caution"``, or ``"serious"``: do not use the answer without acting on it.
    message
        One sentence that needs no statistics to read.
    numbers
        The figures behind it.
    advice
        What to do about it.
    """

    code: str
    severity: Severity
    message: str
    numbers: Mapping[str, Any] = field(default_factory=dict)
    advice: str = ""

    @property
    def docs(self) -> str:
        """Where the documentation explains it: page and anchor, the same in every copy of the site."""
        return f"findings#{self.code}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "advice": self.advice,
            "numbers": dict(self.numbers),
            "docs": self.docs,
        }


def in_words(findings: Iterable[Finding], door: Door) -> tuple[Finding, ...]:
    """Return findings whose advice is in the words of a door."""
    return tuple(replace(each, advice=worded(each.advice, door)) for each in findings)


def without(findings: Iterable[Finding], *codes: str) -> tuple[Finding, ...]:
    """Leave out what has one of these codes."""
    return tuple(each for each in findings if each.code not in codes)


def gravest_first(findings: Iterable[Finding | None]) -> tuple[Finding, ...]:
    """Leave out what was not found, and put the serious ones first."""
    return tuple(sorted((each for each in findings if each is not None), key=lambda each: ORDER[each.severity]))


class Awaited(Sequence[Finding]):
    """Findings that are looked for when someone first looks at them: they take as long as the draws of a small problem.

    Parameters
    ----------
    find
        What looks for them.
    """

    def __init__(self, find: Callable[[], tuple[Finding, ...]]) -> None:
        self._find = find

    @cached_property
    def _found(self) -> tuple[Finding, ...]:
        return self._find()

    def __getitem__(self, position: Any) -> Any:
        return self._found[position]

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._found == tuple(other)

    def __hash__(self) -> int:
        return hash(self._found)

    def __repr__(self) -> str:
        return repr(self._found)
