"""Labels of several raters who may err: items by pattern of labels and output."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from truecount import _check
from truecount._json import read_document
from truecount._types import FloatArray, IntArray, Name
from truecount._wording import listed_quoted
from truecount.counts.combinations import Combinations
from truecount.counts.groups import SCHEMA as GROUPS
from truecount.counts.groups import Groups
from truecount.counts.table import Counts
from truecount.errors import InputError

SCHEMA = "truecount.ratings/1"


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    r"""Items that several raters labelled, by their pattern of labels and by output, and unlabelled items by output.

    Parameters
    ----------
    counts
        `Counts` or `Groups` in which each row is a pattern of labels instead of a class.
    patterns
        The raters, and what each of them said in each pattern; None where a rater did not label the item.
    classes
        The true classes, which the labels name. Left out, they are the labels that occur, sorted.

    Notes
    -----
    The true class of a labelled item is not known: it is inferred together with the raters' error rates.

    Examples
    --------
    >>> rated = Counts([[30, 2], [3, 1], [2, 25]], [60, 40], ["no, no", "no, yes", "yes, yes"], ["no", "yes"])
    >>> Ratings(rated, Combinations(["ann", "bob"], [["no", "no"], ["no", "yes"], ["yes", "yes"]]))
    Ratings: 63 items rated by 2 raters, ann and bob
    class\output  no  yes
    no, no        30    2
    no, yes        3    1
    yes, yes       2   25
    unlabelled    60   40
    """

    counts: Counts | Groups
    patterns: Combinations
    classes: tuple[Name, ...]

    def __init__(self, counts: Counts | Groups, patterns: Combinations, classes: Iterable[Any] | None = None) -> None:
        _check.instance_of("counts", counts, (Counts, Groups), "Pass Counts whose rows are patterns of labels")
        found = Combinations.read("patterns", patterns, len(counts.classes))
        names = found.values if classes is None else _check.names("classes", classes)
        strange = [value for value in found.values if value not in names]
        if strange:
            needed = f"the classes are {listed_quoted(names)}"
            raise InputError("patterns", f"hold {strange[0]!r}", needed, "Add it to classes=[...], or correct it")
        if len(names) < 2:
            raise InputError("classes", f"are {list(names)}", "a share needs at least two", "Name every class")
        for field, value in (("counts", counts), ("patterns", found), ("classes", names)):
            object.__setattr__(self, field, value)

    @property
    def raters(self) -> tuple[str, ...]:
        """The raters by name."""
        return self.patterns.columns

    @property
    def outputs(self) -> tuple[Name, ...]:
        """The outputs of the classifier."""
        return self.counts.outputs

    @property
    def items(self) -> FloatArray:
        """Shape (patterns,): how many items have each pattern."""
        labeled = self.counts.labeled.sum(axis=0) if isinstance(self.counts, Groups) else self.counts.labeled
        return np.asarray(labeled.sum(axis=1), np.float64)

    @property
    def positions(self) -> IntArray:
        """Shape (patterns, raters): where each label stands among the classes, −1 where there is none."""
        place = {name: position for position, name in enumerate(self.classes)}
        parts = [[-1 if part is None else place[part] for part in each] for each in self.patterns.parts]
        return np.array(parts, np.int64)

    def __add__(self, other: object) -> "Ratings":
        """Merge two shards of one data set, aligned by name."""
        if not isinstance(other, Ratings):
            return NotImplemented
        from truecount.counts.exchange import merge_counts

        return merge_counts(self, other)  # type: ignore[return-value]

    def __eq__(self, other: object) -> bool:
        """Compare as text, where the names 1 and True differ."""
        return isinstance(other, Ratings) and self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Callable[[Mapping[str, Any]], "Ratings"], tuple[dict[str, Any]]]:
        """Copy and unpickle through the constructor."""
        return Ratings.from_dict, (self.to_dict(),)

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and names, ready for JSON."""
        return {
            "schema": SCHEMA,
            "classes": list(self.classes),
            "patterns": self.patterns.to_dict(),
            "counts": self.counts.to_dict(),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Read what `to_dict` returned."""
        remedy = "Write them with Ratings.to_json()"
        found = values.get("schema") if isinstance(values, Mapping) else None
        if found != SCHEMA or set(values) != {"schema", "classes", "patterns", "counts"}:
            raise InputError("schema", f"is {found!r}", f"this version reads {SCHEMA!r} with its entries", remedy)
        is_grouped = isinstance(values["counts"], Mapping) and values["counts"].get("schema") == GROUPS
        kind = Groups if is_grouped else Counts
        return cls(kind.from_dict(values["counts"]), values["patterns"], values["classes"])

    def to_json(self) -> str:
        """Return one line of JSON."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` returned."""
        return cls.from_dict(read_document("ratings", text, "Write them with Ratings.to_json()"))

    def __repr__(self) -> str:
        from truecount._wording import listed

        items = self.counts.labeled.sum()
        head = f"Ratings: {items:,.10g} items rated by {len(self.raters)} raters, {listed(self.raters)}"
        return "\n".join([head, *repr(self.counts).splitlines()[1:]])
