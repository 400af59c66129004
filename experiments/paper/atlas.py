"""Cells of several donors, from an AnnData file or from the blood cells of the folder of real data."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from experiments.paper.registry import AbsentError
from scipy import sparse


@dataclass(frozen=True)
class Cells:
    """Expression of genes, and the donor and type of each cell.

    Parameters
    ----------
    expression
        Shape (cells, genes), sparse or dense.
    donors, types
        Shape (cells,): names.
    """

    expression: Any
    donors: np.ndarray
    types: np.ndarray

    def of_types(self, types: tuple[str, ...]) -> "Cells":
        """Keep the cells of these types; all of them where none is named."""
        if not types:
            return self
        absent = sorted(set(types) - set(self.types))
        if absent:
            raise AbsentError(f"no cell is of type {', '.join(absent)}; there are {', '.join(sorted(set(self.types)))}")
        kept = np.isin(self.types, types)
        return Cells(self.expression[kept], self.donors[kept], self.types[kept])


def read_h5ad(path: str | Path, *, donor: str, cell_type: str) -> Cells:
    """Read an AnnData file: its matrix X, and two columns of its table of cells.

    Parameters
    ----------
    path
        The ``.h5ad`` file, such as those of the Kidney Cell Atlas.
    donor, cell_type
        The columns of ``obs`` that name each cell's donor and its type.

    Notes
    -----
    The file is read with h5py, because anndata would bring far more than the three arrays that are needed. Both of
    AnnData's ways to store categories are read, the one of before version 0.8 (``obs/__categories``) too.
    """
    import h5py

    if not Path(path).is_file():
        raise AbsentError(f"there is no file {path}")
    with h5py.File(path) as file:
        return Cells(_matrix(file["X"]), _column(file["obs"], donor), _column(file["obs"], cell_type))


def _matrix(stored: Any) -> Any:
    """Sparse as it was written, or dense."""
    if not hasattr(stored, "keys"):
        return np.asarray(stored)
    shape = tuple(stored.attrs["shape"] if "shape" in stored.attrs else stored.attrs["h5sparse_shape"])
    kind = str(stored.attrs.get("encoding-type", stored.attrs.get("h5sparse_format", "csr")))
    parts = tuple(np.asarray(stored[name]) for name in ("data", "indices", "indptr"))
    matrix = sparse.csc_matrix(parts, shape) if kind.startswith("csc") else sparse.csr_matrix(parts, shape)
    return matrix.tocsr()


def _column(table: Any, name: str) -> np.ndarray:
    """A column of text, spelled out or as codes of categories."""
    if name not in table:
        columns = sorted(key for key in table if not key.startswith("_"))
        raise AbsentError(f"obs has no column {name}; it has {', '.join(columns)}")
    stored = table[name]
    if hasattr(stored, "keys"):
        return _text(stored["categories"])[np.asarray(stored["codes"])]
    if "__categories" in table and name in table["__categories"]:
        return _text(table["__categories"][name])[np.asarray(stored)]
    return _text(stored)


def _text(stored: Any) -> np.ndarray:
    return np.array([value.decode() if isinstance(value, bytes) else str(value) for value in stored[:]])


def read_blood(folder: str | None, column: str) -> Cells:
    """Read the three samples of blood cells, with types from one of the table's columns."""
    if not folder:
        raise AbsentError("TRUECOUNT_DATA, the folder of real data, is not set")
    home = Path(folder) / "pbmc_three_samples"
    if not home.is_dir():
        raise AbsentError("TRUECOUNT_DATA has no folder pbmc_three_samples")
    table = pd.read_csv(home / "cells.csv")
    expression = sparse.load_npz(home / "expression.npz").tocsr()
    return Cells(expression, table["donor"].to_numpy(str), table[column].to_numpy(str))
