"""The findings that every answer carries beyond what the counts alone tell."""

from truecount.counts import Counts
from truecount.diagnostics.fit import misfit
from truecount.diagnostics.identify import hardly_learned, worse_than_chance
from truecount.inference.draws import Draws
from truecount.models import Density
from truecount.results.finding import Finding


def doubts(counts: Counts, model: Density, draws: Draws) -> tuple[Finding, ...]:
    """Say what the draws and the counts together make doubtful, the gravest first."""
    found = [look(counts, model, draws) for look in (misfit, worse_than_chance, hardly_learned)]
    return tuple(finding for finding in found if finding is not None)
