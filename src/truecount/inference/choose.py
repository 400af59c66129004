"""Which engine runs when."""

from dataclasses import dataclass, field, replace

from truecount import _check
from truecount.errors import UnsuitableEngineError
from truecount.inference.draws import Draws
from truecount.inference.exact import Exact
from truecount.inference.quadrature import Quadrature
from truecount.inference.run import ImportanceRun
from truecount.models import Density


@dataclass(frozen=True, slots=True)
class Auto:
    """Quadrature for two classes and two outputs; elsewhere independent exact draws, or else Hamiltonian chains.

    Parameters
    ----------
    effective_draws
        Go on until every class has this effective sample size, or the budget is spent.
    budget
        Gradients that each Hamiltonian chain may compute; None takes a bound that falls with the size of the problem.
    """

    effective_draws: int = 4000
    budget: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        _check.whole_number("effective_draws", self.effective_draws, least=2)
        if self.budget is not None:
            _check.whole_number("budget", self.budget, least=2)

    def sample(self, density: Density, seed: int) -> Draws:
        """Draw with the engine chosen, and say which and why."""
        asked = self.effective_draws
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
            from truecount.inference.hamiltonian import Hamiltonian

            chains = Hamiltonian(asked // 2 + 2, effective_draws=asked, budget=self.budget)
            return self.explained(chains.sample(density, seed), refusal.needed)

    def explained(self, draws: Draws, refusal: str | None = None) -> Draws:
        """Say in the run why this engine was chosen."""
        reason = f"independent draws from the exact posterior were not efficient: {refusal}"
        if refusal is None:
            share = f"{draws.run.share_effective:.0%}" if isinstance(draws.run, ImportanceRun) else "all"
            reason = f"independent draws from the exact posterior were efficient: {share} of the proposals count"
        return _chosen(draws, reason)


def _chosen(draws: Draws, reason: str) -> Draws:
    return replace(draws, run=replace(draws.run, reason=reason))
