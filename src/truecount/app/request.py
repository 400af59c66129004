"""What the page asks, in the words of the command: each request has the line that gives the same answer in a shell."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self, cast

from truecount.app.examples import FILES
from truecount.app.places import UPLOAD
from truecount.cli.groups import named_group
from truecount.cli.model import ModelOptions, require_nothing_in_common
from truecount.cli.options import DESIGNS, GroupOptions, read_level, read_seed
from truecount.cli.source import Source
from truecount.counts import Counts, Groups, Ratings
from truecount.errors import InputError
from truecount.models import Model
from truecount.models.erring_labels import behind_labels
from truecount.models.priors import AUTO
from truecount.results.summary import INTERVAL_NAMES, Kind, Look

REMEDY = "Reload the page"
MOST_CELLS = 40_000
"""Of a matrix that is typed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A file, or a labelled one and one of the population, and the columns that are read.

    Parameters
    ----------
    place
        What the page calls it: a path as the user typed it, or an upload.
    population
        The file of the population, where it is another one.
    label, prediction
        Columns of labels, several where several raters labelled, and of outputs, several where there are several
        classifiers.
    weight, cluster, study
        Columns.
    by, trend
        Columns that make groups; a period may follow, as in ``time:week``.
    missing
        Words that stand for a missing value.
    """

    place: str
    population: str | None = None
    label: Sequence[str] = ()
    prediction: Sequence[str] = ()
    weight: str | None = None
    cluster: str | None = None
    study: str | None = None
    by: Sequence[str] = ()
    trend: str | None = None
    missing: Sequence[str] = ()

    @classmethod
    def read(cls, values: Any) -> Self:
        """Read what the page sent."""
        given = _mapping("file", values)
        texts = {
            name: _text(name, given[name])
            for name in ("population", "weight", "cluster", "study", "trend")
            if given.get(name)
        }
        lists: dict[str, Any] = {
            name: tuple(_texts(name, given[name]))
            for name in ("label", "prediction", "by", "missing")
            if given.get(name)
        }
        return cls(place=_text("file", given.get("place")), **texts, **lists)

    def words(self) -> list[str]:
        """Return what to type behind ``truecount estimate``."""
        several = [(name, each) for name in ("label", "prediction", "by", "missing") for each in getattr(self, name)]
        one = [(name, getattr(self, name)) for name in ("trend", "study", "weight", "cluster")]
        files = [self.place] if self.population is None else [self.place, self.population]
        return [
            *map(shown, files),
            *(word for name, text in [*several, *one] if text is not None for word in (f"--{name}", text)),
        ]

    def source(self, *paths: str) -> Source:
        """Return where the counts come from, whose files lie at `paths`."""
        source = Source(
            tables=paths,
            label=self.label or None,
            prediction=self.prediction or None,
            weight=self.weight or None,
            cluster=None if self.cluster is None else [self.cluster],
            missing=list(self.missing) or None,
        )
        return GroupOptions(by=self.by, trend=self.trend, study=[self.study] if self.study else ()).of_source(source)


def shown(place: str) -> str:
    """Return what the user calls a file: of one that was dropped, its name; of an example, where it lies.

    >>> shown("upload:0a1b/runs.csv")
    'runs.csv'
    """
    dropped = place.partition("/")[2] if place.startswith(UPLOAD) else place
    return FILES.get(place, dropped)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Data, and what is asked of them; the fields below the first three are options of the command.

    Parameters
    ----------
    survey
        Positives, sensitivity and specificity as they are typed.
    counts
        What was typed into the matrix, or counted in a file.
    chosen
        The file that was counted.
    """

    survey: Source | None = None
    counts: Counts | Groups | Ratings | None = None
    chosen: Chosen | None = None
    level: str = "0.95"
    interval: str = "equal-tailed"
    design: str = "label-shift"
    seed: str = "0"
    prior_confusion: str = AUTO
    of_interest: str | None = None
    baseline: str | None = None
    independent: bool = False

    @classmethod
    def read(cls, values: Any) -> Self:
        """Read what the page sent; nothing of it is trusted."""
        given = _mapping("request", values)
        options: dict[str, Any] = {
            name: _text(name, given[name]) for name in OPTIONS if given.get(name) not in (None, "")
        }
        _one_of("interval", options.get("interval", "equal-tailed"), INTERVAL_NAMES)
        _one_of("design", options.get("design", "label-shift"), DESIGNS)
        data: dict[str, Any] = {}
        if "survey" in given:
            data["survey"] = _survey(given["survey"])
        elif "matrix" in given:
            data["counts"] = _matrix(given["matrix"])
        elif "counts" in given:
            data["counts"] = counted(given["counts"])
            data["chosen"] = Chosen.read(given["file"]) if given.get("file") else None
        else:
            raise InputError("request", "has no data", "it names a survey, a matrix or counts", REMEDY)
        return cls(**data, **options, independent=given.get("independent") is True)

    @property
    def look(self) -> Look:
        """The interval that is wanted, in the library's words."""
        return Look(level=read_level(self.level), kind=cast("Kind", self.interval))

    @property
    def seed_number(self) -> int:
        """The seed."""
        return read_seed(self.seed)

    @property
    def groups(self) -> GroupOptions:
        """What is said about groups."""
        trend = None if self.chosen is None else self.chosen.trend
        by = () if self.chosen is None else self.chosen.by
        study = () if self.chosen is None or not self.chosen.study else (self.chosen.study,)
        return GroupOptions(by=by, trend=trend, study=study, baseline=self.baseline, independent=self.independent)

    def data(self) -> tuple[Counts | Groups | Ratings, Model]:
        """Return counts and the model, as the command makes them."""
        known, data = None, self.counts
        if self.survey is not None:
            survey = self.survey
            data, known = survey.read() if self.design == "label-shift" else survey.read_one("--design")
        if data is None:
            raise InputError("request", "has no data", "it names a survey, a matrix or counts", REMEDY)
        counts = behind_labels(data) if isinstance(data, Ratings) else data
        self._require_sound(data, counts)
        whole = counts.total if isinstance(counts, Groups) else counts
        ranges = {} if self.survey is None else self.survey.published()
        assumed = ModelOptions(design=self.design, prior_confusion=self.prior_confusion)
        model = assumed.model(whole, known, ranges=ranges)
        if isinstance(counts, Groups):
            require_nothing_in_common(self.groups, model, data if isinstance(data, Ratings) else None)
        return data, model

    def _require_sound(self, data: Counts | Groups | Ratings, counts: Counts | Groups) -> None:
        """Refuse what does not go together."""
        if isinstance(data, Ratings) and self.design != "label-shift":
            needed = "behind labels that may be wrong, classes are inferred under label shift alone"
            remedy = "Choose the first answer, or one column of true classes"
            raise InputError("design", f"is {self.design!r}", needed, remedy)
        if isinstance(counts, Groups) and self.design != "label-shift":
            needed = (
                "groups differ in their shares, and labels carry over from one to the other under label shift alone"
            )
            raise InputError("design", f"is {self.design!r}", needed, "Choose the first answer, or no groups")
        if self.independent and self.groups.trend:
            needed = "a trend goes from one period to the next, which independent groups do not"
            raise InputError("independent", "is given with a trend", needed, "Leave one of them out")

    def of_group(self, name: str, groups: Groups) -> "Request":
        """Return the same question of one group by itself: its outputs, with the labels that serve all."""
        if groups.studies is not None:
            needed = "the error rates vary between studies, and this is asked of one confusion matrix"
            raise InputError("labels", "come from several studies", needed, "Leave the studies out to ask it")
        of_all = replace(self, chosen=None, baseline=None, independent=False)
        if self.survey is None:
            return replace(of_all, counts=groups[named_group("group", name, groups)])
        mine = [text.rpartition("=")[2] for text in self.survey.positive or () if text.rpartition("=")[0] == name]
        return replace(of_all, survey=replace(self.survey, positive=mine))

    def shell(self, verb: str = "estimate", *more: str, without: Sequence[str] = ()) -> str:
        """Return the line that gives the same answer in a shell; `without` names options that a verb does not take."""
        words, typed = self._data_words()
        given = [
            (name, getattr(self, name))
            for name in OPTIONS
            if name not in without and getattr(self, name) not in (None, USUALLY[name])
        ]
        told = [word for name, text in given for word in (SPELLED.get(name, f"--{name.replace('_', '-')}"), text)]
        independent = ["--independent"] if self.independent and "independent" not in without else []
        line = shlex.join(["truecount", verb, *words, *told, *independent, *more])
        return f"printf %s {shlex.quote(typed)} | {line}" if typed else line

    def _data_words(self) -> tuple[list[str], str]:
        """Return how the data are named, and what the command reads from its standard input."""
        if self.survey is not None:
            rates = [
                (name, text)
                for name in ("positive", "sensitivity", "specificity")
                for text in getattr(self.survey, name)
            ]
            return [word for name, text in rates for word in (f"--{name}", text)], ""
        if self.chosen is not None:
            return self.chosen.words(), ""
        return ["-"], "" if self.counts is None else self.counts.to_json()


OPTIONS = ("level", "interval", "design", "seed", "prior_confusion", "of_interest", "baseline")
USUALLY = {field.name: field.default for field in fields(Request)}
SPELLED = {"of_interest": "--class"}


def counted(values: Any) -> Counts | Groups | Ratings:
    """Read counts that this program wrote."""
    given = _mapping("counts", values)
    kinds: dict[Any, Any] = {"truecount.groups/1": Groups, "truecount.ratings/1": Ratings}
    found: Counts | Groups | Ratings = kinds.get(given.get("schema"), Counts).from_dict(given)
    return found


def _survey(values: Any) -> Source:
    """Read what was typed about a test; a rate that is left empty is not known at all."""
    given = _mapping("survey", values)
    names = ("positive", "sensitivity", "specificity")
    texts: dict[str, Any] = {
        name: [text.strip() for text in _texts(name, given.get(name)) if text.strip()] for name in names
    }
    for name in names:
        if not texts[name]:
            needed = "it is needed" if name == "positive" else "what is known of the test is needed"
            example = {"positive": "50/3330", "sensitivity": "103/122 or 96%", "specificity": "399/401 or 99%"}[name]
            raise InputError(name, "is empty", needed, f"Write it like {example}")
    return Source(**texts)


def _matrix(values: Any) -> Counts:
    given = _mapping("matrix", values)
    labeled, unlabeled = given.get("labeled"), given.get("unlabeled")
    if not isinstance(labeled, list) or not isinstance(unlabeled, list):
        raise InputError("matrix", "is incomplete", "it has labeled and unlabeled counts", REMEDY)
    if len(labeled) * len(unlabeled) > MOST_CELLS:
        found = f"has {len(labeled)} × {len(unlabeled)} cells"
        raise InputError("matrix", found, f"at most {MOST_CELLS:,} are typed", "Put them into a file")
    return Counts(labeled, unlabeled, _texts("classes", given.get("classes")), _texts("outputs", given.get("outputs")))


def _mapping(name: str, values: Any) -> Mapping[str, Any]:
    if not isinstance(values, Mapping):
        raise InputError(name, f"is {type(values).__name__}", "it must be an object", REMEDY)
    return values


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InputError(name, f"is {value!r:.60}", "it must be text", REMEDY)
    return value


def _texts(name: str, values: Any) -> list[str]:
    if not isinstance(values, list):
        raise InputError(name, f"is {values!r:.60}", "it must be a list of texts", REMEDY)
    return [_text(name, value) for value in values]


def _one_of(name: str, value: str, choices: Any) -> None:
    if value not in choices:
        raise InputError(name, f"is {value!r:.60}", f"it must be one of {', '.join(choices)}", REMEDY)
