"""What a data frame can be asked: its counts, and what is inferred from them."""

from collections.abc import Sequence
from typing import Any

from truecount.api.bayesian import infer
from truecount.counts import Counts, Groups, Ratings, count_table
from truecount.results import Posterior
from truecount.results.groups.posterior import GroupPosterior

Label = str | list[str] | tuple[str, ...]
"""A column of labels, or one for each of several raters."""


class Accessor:
    """The counts of a frame and what is inferred from them; options are those of `count_table`."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def count(self, *, label: Label, prediction: str | Sequence[str], **options: Any) -> Counts | Groups | Ratings:
        """Count the rows, of which those without a label are the unlabelled population."""
        found: Counts | Groups | Ratings = count_table(self._frame, label=label, prediction=prediction, **options)
        return found

    def estimate(
        self,
        *,
        label: Label,
        prediction: str | Sequence[str],
        model: Any = None,
        seed: int = 0,
        **options: Any,
    ) -> Posterior | GroupPosterior:
        """Infer the true share of every class, with ``by=`` of every group."""
        asked = {} if model is None else {"model": model}
        answer: Posterior | GroupPosterior = infer(
            self.count(label=label, prediction=prediction, **options), seed=seed, **asked
        )
        return answer
