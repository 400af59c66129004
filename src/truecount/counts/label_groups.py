"""Which group each label came from, where labels serve all groups alike: kept to compare the groups by it.

Labels that carry a group are pooled, because few of each group would tell little. Whether that may be done shows in the
outputs of each class, group by group; these counts hold them beside the pooled ones.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truecount.errors import InputError
from truecount.reading.names import written

AGAIN = "Count the data again, or leave label_groups out"


@dataclass(frozen=True, slots=True, eq=False)
class LabelGroups:
    """Labelled items of each group whose labels are known to be its own.

    Parameters
    ----------
    keys
        The groups, as they are named among the unlabelled items; some may have no unlabelled item.
    labeled
        Shape (keys, classes, outputs): counts, or sums of weights. Together they are at most the pooled table.
    """

    keys: tuple[Any, ...]
    labeled: NDArray[Any]

    def taken(self, rows: Sequence[int], columns: Sequence[int]) -> "LabelGroups":
        """Return the same with classes and outputs in another order."""
        return LabelGroups(self.keys, self.labeled[:, rows][:, :, columns])

    def merged_outputs(self, into: NDArray[Any]) -> "LabelGroups":
        """Return the same with outputs added up by a matrix (outputs, outputs wanted)."""
        return LabelGroups(self.keys, self.labeled @ into)

    def renamed(self, names: Mapping[Any, Any]) -> "LabelGroups":
        """Return the same with other names of some groups."""
        return LabelGroups(tuple(names.get(key, key) for key in self.keys), self.labeled)

    def __add__(self, other: "LabelGroups") -> "LabelGroups":
        """Add the labels of groups with the same name."""
        keys = tuple(dict.fromkeys(self.keys + other.keys))
        total = np.zeros((len(keys), *self.labeled.shape[1:]), np.result_type(self.labeled, other.labeled))
        for each in (self, other):
            np.add.at(total, [keys.index(key) for key in each.keys], each.labeled)
        return LabelGroups(keys, total)

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists, ready for JSON."""
        keys = [key if isinstance(key, tuple) else (key,) for key in self.keys]
        return {"groups": [[written(part) for part in key] for key in keys], "labeled": self.labeled.tolist()}


def read_label_groups(values: Any, labeled: NDArray[Any]) -> LabelGroups | None:
    """Return what `to_dict` returned, a mapping from group to table, or such an object, if it is part of these labels.

    Parameters
    ----------
    values
        None where it is not known which group a label came from.
    labeled
        Shape (studies, classes, outputs): the pooled labels, of one study.
    """
    if values is None:
        return None
    found = values if isinstance(values, LabelGroups) else _read(values, labeled.shape[1:])
    if len(labeled) > 1:
        needed = "studies say themselves where labels come from"
        raise InputError("label_groups", "came with studies", needed, "Leave it out, or pass one table of labels")
    own = found.labeled
    if (own < 0).any() or not np.isfinite(own).all() or (own.sum(axis=0) > labeled[0] * (1 + 1e-9) + 1e-9).any():
        needed = "the labels of single groups are some of all labels"
        raise InputError("label_groups", "do not match labeled", needed, AGAIN)
    return found


def _read(values: Any, shape: tuple[int, ...]) -> LabelGroups:
    needed = f"it maps each group to a table of {shape[0]} classes and {shape[1]} outputs"
    if isinstance(values, Mapping) and set(values) == {"groups", "labeled"} and isinstance(values["groups"], list):
        keys = [tuple(key) if isinstance(key, list) else (key,) for key in values["groups"]]
        values = dict(zip((key[0] if len(key) == 1 else key for key in keys), values["labeled"], strict=False))
    if not isinstance(values, Mapping):
        raise InputError("label_groups", f"is {values!r:.60}", needed, AGAIN)
    tables = [np.asarray(table) for table in values.values()]
    for key, table in zip(values, tables, strict=True):
        if table.shape != shape or table.dtype.kind not in "iuf":
            raise InputError("label_groups", f"has shape {table.shape} for {key!r}", needed, AGAIN)
    return LabelGroups(tuple(values), np.stack(tables) if tables else np.zeros((0, *shape), np.int64))
