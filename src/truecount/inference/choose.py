"""Which engine runs when."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from truecount import _check
from truecount._advice import NOT_JOINT, Advice
from truecount.errors import UnsuitableEngineError
from truecount.inference.draws import Draws, Engine
from truecount.inference.importance.exact import Exact
from truecount.inference.importance.joint import exact_jointly
from truecount.inference.importance.many import sample_stacked
from truecount.inference.integration.quadrature import Quadrature
from truecount.models import Density

USUAL_DRAWS, USUAL_OF_MANY = 4000, 1000
"""The effective sample size that is aimed at where none is asked for: of one population; of groups, or of classes so
many that Gibbs chains draw them, where each draw costs more."""
MANY_CELLS = 1000
"""Of the confusion, from which on Gibbs chains are tried before Hamiltonian ones, as they are for learned shares."""
MOST_CELLS = 100_000
"""Of the confusion, beyond which Hamiltonian chains are not tried: they would take hours, and gigabytes."""
STEEP = 10.0
"""Factor between learned concentrations beyond which Hamiltonian chains, which sum over these, hardly leave the narrow
part, such as label shift that holds exactly beside very many labels. Gibbs chains draw the concentration itself."""
APART = Advice("{} and do not compare the groups draw by draw, or pass fewer of them", NOT_JOINT)


@dataclass(frozen=True, slots=True)
class Auto(Engine):
    """Quadrature for two classes and two outputs; elsewhere independent exact draws, or else chains.

    Parameters
    ----------
    effective_draws
        Go on until every class has this effective sample size, or the budget is spent. None is 4000, and 1000 for
        groups that are drawn jointly and where Gibbs chains draw many classes.
    budget
        Gradients that each Hamiltonian chain may compute; None takes a bound that falls with the size of the problem.

    Notes
    -----
    Chains are Gibbs chains where the prior of the prevalence is learned, as it is from 20 classes on, the confusion has
    1,000 cells, or a learned concentration has far larger values beside small ones. Elsewhere they are Hamiltonian.
    Where those of the one kind refuse or have not converged, the other kind is tried, with up to 100,000 cells and
    without a budget.
    """

    effective_draws: int | None = None
    budget: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.effective_draws is not None:
            _check.whole_number("effective_draws", self.effective_draws, least=2)
        if self.budget is not None:
            _check.whole_number("budget", self.budget, least=2)

    @property
    def open_choice(self) -> int:
        """Effective draws that are wanted of any engine that suits."""
        return USUAL_DRAWS if self.effective_draws is None else self.effective_draws

    @property
    def open_choice_of_many(self) -> int:
        """Effective draws that are wanted of many groups, drawn jointly or each by itself, and of many classes."""
        return USUAL_OF_MANY if self.effective_draws is None else self.effective_draws

    def sample(self, density: Density, seed: int) -> Draws:
        """Draw with the engine chosen, and say which and why."""
        asked = self.open_choice
        if density.rows.shape == (2, 2):
            try:
                draws = Quadrature(asked).sample(density, seed)
            except UnsuitableEngineError:
                pass
            else:
                return _chosen(draws, "two classes and two outputs can be integrated by quadrature")
        try:
            return self.explained(Exact(asked, effective_draws=asked).sample(density, seed))
        except UnsuitableEngineError as refusal:
            return self.explained(self._by_chains(density, seed), refusal.needed)

    def _by_chains(self, density: Density, seed: int) -> Draws:
        """Draw by Gibbs chains where there are many classes, and by Hamiltonian ones elsewhere or where those fail."""
        from truecount.inference.chains.gibbs import Gibbs
        from truecount.inference.chains.hamiltonian import Hamiltonian

        has_many = density.learned_prevalence is not None or density.rows.size >= MANY_CELLS
        has_a_spike = density.learned_rows is not None and density.learned_rows.largest_step > STEEP
        asked = self.open_choice_of_many if has_many else self.open_choice
        gibbs, by_gibbs = Gibbs.for_many_classes(asked, density.rows.size), None
        if has_many or has_a_spike:
            by_gibbs = _drawn_or_none(gibbs, density, seed)
            if by_gibbs is not None and (by_gibbs.run.status == "ok" or density.rows.size > MOST_CELLS):
                return by_gibbs
        drawn = Hamiltonian(asked // 2 + 2, effective_draws=asked, budget=self.budget).sample(density, seed)
        if drawn.run.status != "ok" and by_gibbs is None and self.budget is None:
            by_gibbs = _drawn_or_none(gibbs, density, seed)
        return drawn if by_gibbs is None or drawn.run.status == "ok" else by_gibbs

    def sample_many(self, densities: Sequence[Density], seeds: Sequence[int]) -> Iterator[tuple[int, Draws]]:
        """Draw ordinary problems of one shape together, the rest one by one, on all cores."""
        for number, draws in sample_stacked(densities, seeds, self.open_choice, self.sample):
            yield number, draws if draws.run.reason else self.explained(draws)

    def sample_jointly(self, densities: Sequence[Density], seed: int) -> list[Draws]:
        """Draw together: independently, or else by imputing the items of all groups in turns."""
        asked = self.open_choice
        try:
            return [self.explained(draws) for draws in exact_jointly(densities, asked, asked, seed)]
        except UnsuitableEngineError as first:
            from truecount.inference.chains.gibbs import Gibbs

            try:
                drawn = Gibbs(max(4 * asked, 2)).sample_jointly(densities, seed)
            except UnsuitableEngineError as second:
                reason = f"exact draws are not possible ({first.needed}), nor chains ({second.needed})"
                raise UnsuitableEngineError("groups", "share their labels", reason, APART) from second
            return [self.explained(draws, first.needed) for draws in drawn]

    def explained(self, draws: Draws, refusal: str | None = None) -> Draws:
        """Say in the run why this engine was chosen."""
        reason = f"independent draws from the exact posterior were not efficient: {refusal}"
        if refusal is None:
            share = "all" if draws.run.share_effective is None else f"{draws.run.share_effective:.0%}"
            reason = f"independent draws from the exact posterior were efficient: {share} of the proposals count"
        return _chosen(draws, reason)


def _drawn_or_none(engine: Engine, density: Density, seed: int) -> Draws | None:
    """Draw, or return nothing where the engine refuses."""
    try:
        return engine.sample(density, seed)
    except UnsuitableEngineError:
        return None


def _chosen(draws: Draws, reason: str) -> Draws:
    return replace(draws, run=replace(draws.run, reason=reason))
