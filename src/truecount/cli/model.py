"""The model that the options ask for."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast

import click
import numpy as np

from truecount._types import FloatArray, Name
from truecount._wording import nearest
from truecount.cli.options import DESIGNS, GroupOptions, MisuseError, read_number, read_share
from truecount.cli.source import TARGET
from truecount.counts import Counts, Groups, Ratings
from truecount.counts.survey import NAMES
from truecount.errors import InputError
from truecount.models import (
    ErringLabels,
    IndependentClassifiers,
    LabelShift,
    Model,
    Pert,
    Prior,
    TargetLabels,
    Varying,
)
from truecount.models.given_output import OutputModel
from truecount.models.priors import AUTO, LEARNED, NAMED_ROWS

USUAL = Prior()
INDEPENDENT, ERROR = "--independent-classifiers", "--label-error"
HOW_WRONG = "Write 0.05 or 5%, or name a CSV file that counts true classes by the label that they got"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """What was said about the model; the fields are options of the command."""

    design: str = "label-shift"
    prior: str = str(USUAL.prevalence)
    prior_confusion: str = str(USUAL.confusion)
    prior_output: str | None = None
    label_error: str | None = None
    independent_classifiers: bool = False

    def require_prior(self) -> None:
        """Refuse what is no prior of anything, before the data are read."""
        with _blamed_on("--prior"):
            Prior(_shares(self.prior, ()))
        with _blamed_on("--prior-confusion"):
            Prior(confusion=_rows(self.prior_confusion))

    def model(
        self,
        counts: Counts,
        known: FloatArray | None = None,
        *,
        ranges: Mapping[str, Pert] | None = None,
        target: LabelShift | None = None,
    ) -> Model:
        """Return the model.

        Parameters
        ----------
        counts
            All groups together, for the names of the classes.
        known
            Rows of the confusion that are known.
        ranges
            Published ranges of the rates, by class.
        target
            The model that knows labels of the population itself.
        """
        model = self._of_design(counts, known)
        model = _with_ranges(model, ranges) if ranges else model
        model = model if target is None else _with_target(model, target)
        model = model if self.label_error is None else _with_error(model, self.label_error, counts.classes)
        return _taken_for_independent(model) if self.independent_classifiers else model

    def of_target(self, options: GroupOptions) -> GroupOptions:
        """Return the options of groups whose own labels are random samples of them."""
        said = {ERROR: self.label_error is not None, INDEPENDENT: self.independent_classifiers}
        if given := [name for name, is_given in said.items() if is_given]:
            needed = "labels of groups are taken for right, and rows to vary between them and labels from elsewhere"
            raise MisuseError(TARGET, f"is given with {given[0]}", needed, "Leave one of them out")
        return replace(options, random_labels=True)

    def _of_design(self, counts: Counts, known: FloatArray | None) -> Model:
        """Read ``1``, ``learned`` or ``fail=2,pass=1``, and ``0.5``, ``flat``, ``sparse`` or ``diagonal:2``."""
        with _blamed_on("--prior"):
            of_prevalence = Prior(_shares(self.prior, counts.classes))
            of_prevalence.prevalence_for(counts)
        with _blamed_on("--prior-confusion"):
            rows = None if known is None else known.tolist()
            prior = Prior(of_prevalence.prevalence, _rows(self.prior_confusion), known=rows)
            prior.confusion_for(counts)
        kind = DESIGNS[self.design]
        if not issubclass(kind, OutputModel):
            if self.prior_output is not None:
                needed = "under label shift P(output | class) is learned, and P(class | output) has no prior"
                remedy = "Leave --prior-output out, or say --design by-prediction"
                raise MisuseError("--prior-output", "is given", needed, remedy)
            return kind(prior)
        if prior != USUAL:
            needed = f"with --design {self.design} only the classes of each output have a prior"
            remedy = "Pass --prior-output NUMBER, or leave it out"
            raise MisuseError("--prior", "has a prior of label shift", needed, remedy)
        with _blamed_on("--prior-output"):
            given = self.prior_output
            model = kind(None if given is None else _concentrations(given, counts.classes))
            model.prior_for(counts)
        return model


def _with_ranges(model: Model, ranges: Mapping[str, Pert]) -> Model:
    """Return the model with published ranges as its prior of the rows."""
    if not isinstance(model, LabelShift):
        needed = "a range is of P(output | class), which only label shift carries over"
        raise MisuseError("--design", f"is {model.option()!r}", needed, "Leave out --design")
    if model.prior.confusion != USUAL.confusion:
        needed = "a range is the prior of its rate"
        raise MisuseError("--prior-confusion", "is given with a range", needed, "Leave --prior-confusion out")
    rows = Prior.published({name: ranges.get(name, 1) for name in NAMES}).confusion
    return replace(model, prior=replace(model.prior, confusion=rows))


def say_worth(ranges: Mapping[str, Pert]) -> None:
    """Say on the standard error how many labels each published range is worth."""
    for name, rate in ranges.items():
        click.echo(f"{'--sensitivity' if name == 'positive' else '--specificity'}: {rate}.", err=True)


def _with_target(model: Model, target: LabelShift) -> LabelShift:
    """Return the labels of the population with the prior that was asked for."""
    if not isinstance(model, LabelShift):
        needed = "labels from elsewhere are combined with those of the population by what label shift allows"
        raise MisuseError("--design", f"is {model.option()!r}", needed, f"Leave --design out, or {TARGET}")
    return replace(target, prior=model.prior)


def _with_error(model: Model, text: str, classes: Sequence[Name]) -> Model:
    """Return the model of labels that are wrong as often as was said."""
    if not isinstance(model, LabelShift):
        needed = "wrong labels are inferred behind under label shift"
        raise MisuseError(ERROR, "is given with --design", needed, "Leave out --design")
    if isinstance(model, TargetLabels):
        needed = "labels of the population are taken for right"
        raise MisuseError(ERROR, f"is given with {TARGET}", needed, "Leave out one of them")
    if model.prior.known is not None:
        needed = "rates that are known leave no labels that could be wrong"
        raise MisuseError(ERROR, "is given with rates that are known", needed, "Leave out one of them")
    if not Path(text).exists() and Path(text).suffix.lower() not in (".csv", ".tsv"):
        return ErringLabels(model.prior, known=read_share(ERROR, text, HOW_WRONG))
    return ErringLabels(model.prior, validation=_validation(text, classes))


def _validation(path: str, classes: Sequence[Name]) -> list[list[float]]:
    """Read a table of true classes by label, in the order of the classes."""
    from truecount.counts.matrix import read_confusion

    table = read_confusion(path)
    names = list(map(str, classes))
    if sorted(map(str, table.classes)) != sorted(names) or sorted(map(str, table.outputs)) != sorted(names):
        found, needed = f"has the classes {list(table.classes)}", f"those of the data are {list(classes)}"
        raise InputError(path, found, needed, "Name rows and columns like the classes")
    rows, columns = ([list(map(str, side)).index(name) for name in names] for side in (table.classes, table.outputs))
    chosen: list[list[float]] = np.asarray(table.labeled)[np.ix_(rows, columns)].tolist()
    return chosen


def _taken_for_independent(model: Model) -> Model:
    """Return the model in which classifiers err independently."""
    if type(model) is not LabelShift:
        needed = "classifiers are taken for independent under label shift, with labels from elsewhere that are right"
        remedy = "Leave out --design, --label-error and --target-labels, or --independent-classifiers"
        raise MisuseError(INDEPENDENT, "is given with another model", needed, remedy)
    if model.prior.confusion != USUAL.confusion:
        needed = "each classifier has rows of its own, and no joint ones"
        raise MisuseError(
            "--prior-confusion", "is given with --independent-classifiers", needed, "Leave out one of them"
        )
    return IndependentClassifiers(model.prior)


def require_several(data: Counts | Groups, rated: Ratings | None, option: str) -> None:
    """Refuse questions about several classifiers where there is one, or labels that may err."""
    if rated is not None or (isinstance(data, Groups) and option == "--each-classifier"):
        population = "one population and " if option == "--each-classifier" else ""
        raise click.BadParameter(f"{option} goes with {population}one --label.")
    if data.combinations is None:
        raise click.BadParameter(f"{option} goes with several --prediction. Write --prediction for each classifier.")


def require_nothing_in_common(options: GroupOptions, model: Model, ratings: Ratings | None) -> None:
    """Refuse options that relate groups or studies to each other, where classes of items are imputed."""
    related = ("trend", "covariate", "random_labels", "new_study", "study")
    given = [f"--{name.replace('_', '-')}" for name in related if getattr(options, name)]
    may_err = ratings is not None or isinstance(model, ErringLabels)
    if given and (may_err or isinstance(model, IndependentClassifiers)):
        what = "labels that may err" if may_err else "classifiers taken for independent"
        needed = f"with {what}, groups vary around a common centre, or are independent"
        instead = "pass one --label" if ratings is not None else "leave --label-error out"
        instead = instead if may_err else "leave --independent-classifiers out"
        raise MisuseError(given[0], "is given", needed, f"Leave {' and '.join(given)} out, or {instead}")


def with_studies(model: Model, groups: Groups, options: GroupOptions, *, is_survey: bool) -> LabelShift:
    """Return the model of groups, whose confusion varies where labels come from several studies."""
    if not isinstance(model, LabelShift):
        needed = "groups are drawn jointly under label shift"
        raise MisuseError("--design", f"is {model.option()!r}", needed, "Leave out --design, or the groups")
    if groups.studies is None:
        if options.new_study is not None:
            needed = "it says how groups share a study, and the labels are of one"
            remedy = "Add --study COLUMN, or give --sensitivity or --specificity more than once"
            raise MisuseError("--new-study", f"is {options.new_study!r}", needed, remedy)
        if options.random_labels:
            needed = "it is about labels of each group, which are kept apart where the groups are studies"
            raise MisuseError("--random-labels", "is given without studies", needed, "Add --study, the column of --by")
        return model
    chosen = cast("Literal['each', 'one']", options.new_study or ("one" if is_survey else "each"))
    return replace(model, confusion=Varying(new_study=chosen, random_labels=options.random_labels))


def _shares(text: str, classes: Iterable[Name]) -> str | float | dict[Name, float]:
    return text if text in (LEARNED, AUTO) else _concentrations(text, classes)


def _concentrations(text: str, classes: Iterable[Name]) -> float | dict[Name, float]:
    if "=" not in text:
        return read_number(text, "Write 1, or a number for every class as in fail=2,pass=1")
    names = {str(name): name for name in classes}
    pairs = [entry.rpartition("=") for entry in text.split(",")]
    numbers = {
        names.get(name.strip(), name.strip()): read_number(number, "Write fail=2,pass=1") for name, _, number in pairs
    }
    if len(numbers) < len(pairs):
        raise InputError("prior", f"is {text!r}", "it must name every class once", "Write fail=2,pass=1")
    return numbers


def _rows(text: str) -> Any:
    names = (*NAMED_ROWS, LEARNED, AUTO)
    kind, _, strength = text.partition(":")
    if kind == "diagonal":
        return Prior.diagonal(read_number(strength, "Write diagonal:2")).confusion
    if text in names:
        return text
    meant = nearest(kind, (*names, "diagonal"))
    remedy = f"Or write {', '.join(names)} or diagonal:2"
    return read_number(text, f"Perhaps you meant {text.replace(kind, meant)}" if meant else remedy)


@contextmanager
def _blamed_on(option: str) -> Iterator[None]:
    """Name the option in an error, which knows only the argument."""
    try:
        yield
    except InputError as error:
        raise error.about(option) from error
