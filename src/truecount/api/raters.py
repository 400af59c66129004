"""Labels that may be wrong end in a posterior: of shares, of the classifier, and of the raters."""

from dataclasses import replace
from functools import partial

import numpy as np

from truecount._advice import OWN_ENGINE, Advice
from truecount._types import FloatArray, IntArray
from truecount.counts import Counts, Groups, Ratings
from truecount.diagnostics.raters import rater_findings
from truecount.errors import InputError
from truecount.inference.draws import Engine
from truecount.inference.raters import RatedDraws, sample_rated
from truecount.models import LabelShift, Model
from truecount.models.erring_labels import ErringLabels, RatedDensity
from truecount.models.rated_clusters import effective_ratings, scaled_to
from truecount.results import Posterior
from truecount.results.export.provenance import Origin
from truecount.results.finding import Awaited
from truecount.results.groups.posterior import GroupPosterior
from truecount.results.raters import RaterRates


def infer_rated(
    data: Ratings | Counts | Groups, model: Model, engine: Engine, origin: Origin
) -> Posterior | GroupPosterior:
    """Infer the shares of the classes behind labels that may be wrong."""
    chosen = _chosen(model)
    if (wanted := engine.open_choice_of_many) is None:
        needed = "labels that may err have an engine of their own"
        raise InputError("engine", f"is {engine!r:.60}", needed, Advice("{}", OWN_ENGINE))
    ratings = data if isinstance(data, Ratings) else chosen.ratings_of(data)
    density, clusters = effective_ratings(chosen.rated_density(ratings), ratings)
    drawn = sample_rated(density, effective_draws=wanted, seed=origin.seed)
    rates = _rates(ratings, chosen.raters_of(ratings), density, drawn)
    counts = ratings.counts
    totals = np.asarray(counts.labeled.sum(axis=(0, 1) if isinstance(counts, Groups) else 0), np.float64)
    table = whole_items(_of_all_items(drawn.labeled, totals), totals)
    clusters = None if clusters is None else scaled_to(clusters, table)
    if isinstance(counts, Groups):
        groups = Groups(
            table,
            dict(zip(counts.groups, counts.unlabeled, strict=True)),
            ratings.classes,
            counts.outputs,
            times=counts.times,
            by=counts.by,
            combinations=counts.combinations,
            clusters=clusters,
        )
        chosen = replace(chosen, groups=chosen.variation_of(counts))
        draws = drawn.of_groups()
        found = rater_findings(groups, chosen, density, rates, draws)
        return GroupPosterior(draws=draws, data=groups, model=chosen, findings=found, origin=origin, raters=rates)
    plain = Counts(
        table,
        counts.unlabeled,
        ratings.classes,
        counts.outputs,
        combinations=counts.combinations,
        clusters=clusters,
    )
    of_one = drawn.of_one()
    findings = Awaited(partial(rater_findings, plain, chosen, density, rates, of_one))
    return Posterior(draws=of_one, counts=plain, model=chosen, findings=findings, origin=origin, raters=rates)


def _chosen(model: Model) -> ErringLabels:
    if isinstance(model, ErringLabels):
        return model
    if type(model) is LabelShift:
        return ErringLabels(model.prior, groups=model.groups, confusion=model.confusion)
    needed = "labels of several raters are inferred under label shift"
    raise InputError("model", f"is {model!r:.60}", needed, "Pass ErringLabels(), or leave it out")


def _rates(ratings: Ratings, raters: tuple[str, ...], density: RatedDensity, drawn: RatedDraws) -> RaterRates:
    items = ratings.items
    labels = np.zeros(len(raters))
    np.add.at(labels, density.rater_of, ((density.labels >= 0) * items[:, None]).sum(axis=0))
    return RaterRates(
        data=ratings,
        raters=raters,
        draws=drawn.raters,
        labeled_prevalence=drawn.labeled_prevalence,
        items=labels,
    )


def _of_all_items(expected: FloatArray, totals: FloatArray) -> FloatArray:
    """Return imputed items, which clusters make fewer, as parts of all labelled ones, output by output."""
    seen = expected.sum(axis=0)
    parts = np.divide(expected, seen, out=np.full(expected.shape, 1 / len(expected)), where=seen > 0)
    return np.asarray(parts * totals)


def whole_items(expected: FloatArray, totals: FloatArray) -> IntArray:
    """Round imputed items to whole ones, output by output, so that each output keeps its total.

    >>> whole_items(np.array([[1.4, 2.0], [1.6, 0.0]]), np.array([3.0, 2.0]))
    array([[1, 2],
           [2, 0]])
    """
    floor = np.floor(expected + 1e-9)
    short = np.rint(totals - floor.sum(axis=0)).astype(np.int64)
    order = np.argsort(np.argsort(floor - expected, axis=0, kind="stable"), axis=0, kind="stable")
    return np.asarray(floor + (order < short), np.int64)
