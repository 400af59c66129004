"""A result as a table to read."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from truecount.results.posterior import Posterior


def text(posterior: "Posterior") -> str:
    rows = []
    for i, name in enumerate(posterior.classes):
        low, high = posterior.interval()[i]
        rows.append(f"{name}  {posterior.mean[i]:.1%}  {low:.1%} – {high:.1%}")
    return "\n".join(rows)


def html(posterior: "Posterior") -> str:
    raise NotImplementedError
