"""Several classifiers on the command line: what each adds, and the assumption that they err independently."""

import warnings
from typing import TYPE_CHECKING, Any

import click

from truecount._progress import watch
from truecount.cli.options import MisuseError
from truecount.counts import Counts, Groups, Ratings
from truecount.errors import TruecountWarning
from truecount.models import LabelShift, Model, Prior

if TYPE_CHECKING:
    from truecount.inference.draws import Engine
    from truecount.results.each_classifier import EachClassifier


def taken_for_independent(model: Model) -> Model:
    """Return the model in which classifiers err independently."""
    from truecount.models import IndependentClassifiers

    if type(model) is not LabelShift:
        needed = "classifiers are taken for independent under label shift, with labels from elsewhere that are right"
        remedy = "Leave out --design, --label-error and --target-labels, or --independent-classifiers"
        raise MisuseError("--independent-classifiers", "is given with another model", needed, remedy)
    if model.prior.confusion != Prior().confusion:
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


def contributions(counts: Counts, model: Model, engine: "Engine", level: float, seed: int) -> "EachClassifier":
    """Infer with each classifier alone, without each, and with all."""
    from truecount.api.classifiers import each_classifier
    from truecount.inference import Auto

    chosen: dict[str, Any] = {} if engine == Auto() else {"engine": engine}
    with warnings.catch_warnings(), watch(what="comparing classifiers"):
        warnings.simplefilter("ignore", TruecountWarning)
        return each_classifier(counts, model, level=level, seed=seed, **chosen)
