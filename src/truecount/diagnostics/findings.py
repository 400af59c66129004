"""The findings that an answer carries, gathered from the modules that make them."""

from collections.abc import Iterator

from truecount.counts import Counts
from truecount.diagnostics.cautions import cautions, output_cautions
from truecount.diagnostics.homogeneity import not_random
from truecount.diagnostics.identify import (
    hardly_learned,
    indistinct,
    kept_uncertainty,
    not_identified,
    worse_than_chance,
)
from truecount.diagnostics.modes import mode_findings
from truecount.diagnostics.outweighed import outweighed
from truecount.diagnostics.prior import prior_against_data
from truecount.diagnostics.shape import edge_not_excluded, several_answers
from truecount.diagnostics.shift import misfit
from truecount.inference.draws import Draws
from truecount.inference.modes.mode import ModeRecord
from truecount.models import Density, Model, Prior, SamePopulation, density
from truecount.results.finding import Finding, gravest_first


def of_posterior(counts: Counts, prior: Prior, model: Density, draws: Draws) -> tuple[Finding, ...]:
    """Return what is cheap to find out about draws, the gravest first."""
    return gravest_first([*cautions(counts, prior, draws), *_of_answer(counts, prior, model, draws)])


def _of_answer(counts: Counts, prior: Prior, model: Density, draws: Draws) -> Iterator[Finding | None]:
    """Yield what counts and draws together show; a lack of knowledge is said once, by its cause."""
    if not model.unlabeled.sum():
        return
    camps, conflict = several_answers(counts, draws), prior_against_data(counts, prior, model, draws)
    unclear = not_identified(counts, model, draws)
    yield from (camps, conflict, misfit(counts, model), *unclear, worse_than_chance(counts, model))
    yield outweighed(counts, model, draws)
    if camps is None and conflict is None:
        alike = {name for finding in unclear for name in finding.numbers["classes"]}
        kept = kept_uncertainty(model, draws)
        yield hardly_learned(counts, model, kept, said=alike)
        yield edge_not_excluded(counts, draws, kept)


def of_closed_form(counts: Counts, model: Model) -> tuple[Finding, ...]:
    """Return what is known about an answer whose labels tell P(class | output)."""
    chosen = not_random(counts) if isinstance(model, SamePopulation) else None
    return gravest_first([*output_cautions(counts), chosen])


def of_mode(counts: Counts, prior: Prior, record: ModeRecord) -> tuple[Finding, ...]:
    """Return what is known about a mode."""
    return gravest_first([*of_counts(counts, prior), *mode_findings(record)])


def of_counts(counts: Counts, prior: Prior) -> tuple[Finding, ...]:
    """Return what counts show about any point under label shift, without a draw."""
    if not counts.unlabeled.sum():
        return cautions(counts, prior)
    model = density(counts, prior)
    return gravest_first([*cautions(counts, prior), misfit(counts, model), *indistinct(counts, model)])
