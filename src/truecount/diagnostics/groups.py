"""Whether the confusion is the same across groups."""

import numpy as np

from truecount.counts import Groups
from truecount.counts.weights import effective_counts
from truecount.diagnostics.fit import MOST_TIMES, Tables
from truecount.diagnostics.homogeneity import HomogeneityTest, homogeneity_test
from truecount.diagnostics.shift import CAUTION, SERIOUS, bootstrap
from truecount.models import Density
from truecount.results.finding import Finding


def rows_test(groups: Groups, *, seed: int) -> HomogeneityTest:
    """Test that each class has the same outputs in every group, by the groups' own labels."""
    own = [effective_counts(counts)[0] for group, counts in groups.apart() if group in (groups.studies or ())]
    return homogeneity_test(np.array(own), seed=seed)


def joint_test(groups: Groups, model: Density, *, replicates: int, seed: int) -> tuple[float, float]:
    """Test that one confusion explains the unlabelled outputs of every group; returns the deviance and its p-value."""
    each = [effective_counts(counts) for _, counts in groups.items()]
    labeled = np.where(model.is_known[:, None], 0.0, each[0][0])
    unlabeled = np.array([items for _, items in each])
    unlabeled = unlabeled[unlabeled.any(axis=1)]
    if not len(unlabeled):
        return 0.0, 1.0
    sizes = unlabeled.sum(axis=1)
    most = MOST_TIMES * max(labeled.sum(), 1.0) if labeled.any() else np.inf
    scale = np.minimum(1.0, most / np.maximum(sizes, 1.0))
    tables = Tables(labeled=labeled[None], unlabeled=(unlabeled * scale[:, None])[None], known=model.known)
    return bootstrap(tables, sizes, replicates, np.random.default_rng(seed))


def joint_findings(deviance: float, p_value: float) -> tuple[Finding, ...]:
    """Say that no one confusion explains all groups."""
    if p_value > CAUTION:
        return ()
    return (
        Finding(
            "label-shift-violated",
            "serious" if p_value <= SERIOUS else "caution",
            f"No one way of treating the classes explains the outputs of all groups (p = {p_value:.2g}): the box "
            "treats some class differently from group to group.",
            {"deviance": deviance, "p_value": p_value},
            "Label some items of each group, and pass the groups with labels of their own.",
        ),
    )
