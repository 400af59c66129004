"""The verb for many groups: joint draws of all of them."""

from truecount import _check
from truecount.api.bayesian import package_version
from truecount.counts.groups import Groups
from truecount.diagnostics.hierarchy import group_findings
from truecount.inference.hierarchical import sample_pooled
from truecount.models.groups import Pooled, Walk, group_density
from truecount.models.priors import Prior
from truecount.results.group_posterior import GroupPosterior

EFFECTIVE_DRAWS = 1000


def infer_groups(
    groups: Groups,
    *,
    prior: Prior = Prior(),
    variation: Pooled | Walk = Pooled(),
    effective_draws: int = EFFECTIVE_DRAWS,
    seed: int = 0,
) -> GroupPosterior:
    """Infer the true share of every class in every group, jointly.

    Parameters
    ----------
    groups
        Labelled items, and the unlabelled items of each group.
    prior
        Of the share at the groups' centre, and of the confusion's rows.
    variation
        How groups vary: around a common centre, or as a walk in time.
    effective_draws
        The least effective sample size of any share, spread or confusion.
    seed
        Same seed, same data, same version: same draws.

    Examples
    --------
    >>> groups = Groups([[140, 60], [20, 180]], {"A": [600, 400], "B": [500, 500], "C": [550, 450]})
    >>> answer = infer_groups(groups, seed=1)
    >>> answer.difference("A", "B").probability(lambda difference: difference[0] > 0) > 0.95
    True
    """
    seed = _check.whole_number("seed", seed, least=0)
    density = group_density(groups, prior, variation)
    draws = sample_pooled(density, effective_draws=effective_draws, seed=seed)
    return GroupPosterior(
        draws=draws,
        data=groups,
        prior=prior,
        variation=variation,
        findings=group_findings(groups, prior, draws),
        seed=seed,
        version=package_version(),
    )
