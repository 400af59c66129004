"""Which engine runs when."""

from dataclasses import dataclass

from truecount.inference.draws import Draws
from truecount.inference.exact import Exact
from truecount.inference.gibbs import Gibbs
from truecount.models import Density


@dataclass(frozen=True, slots=True)
class Auto:
    """Choose an engine by the shape of the counts, and say which and why."""

    effective_draws: int = 4000

    def sample(self, density: Density, seed: int) -> Draws:
        """Draw with the engine chosen."""
        if density.n_classes == density.n_outputs:
            return Exact(self.effective_draws).sample(density, seed)
        return Gibbs(self.effective_draws).sample(density, seed)
