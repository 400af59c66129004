"""Cells from an AnnData file, written here as AnnData writes them."""

import numpy as np
import pytest
from scipy import sparse

pytest.importorskip("h5py")
pytest.importorskip("pandas")
pytest.importorskip("sklearn")
import h5py
from experiments.paper import cells, report
from experiments.paper.__main__ import main
from experiments.paper.atlas import read_blood, read_h5ad
from experiments.paper.registry import AbsentError

DONORS = np.repeat(["d1", "d2", "d3", "d4", "d5", "d6", "d7"], 30)
TYPES = np.tile(["B", "NK", "T"], 70)


def expression() -> np.ndarray:
    """Three genes, one high in each type."""
    rng = np.random.default_rng(0)
    table = rng.poisson(0.4, (len(TYPES), 3)).astype(np.float32)
    table[np.arange(len(TYPES)), np.unique(TYPES, return_inverse=True)[1]] += rng.poisson(2.0, len(TYPES))
    return table


def write_matrix(file, kind: str) -> None:
    table = expression()
    if kind == "dense":
        file["X"] = table
        return
    stored = {"csr": sparse.csr_matrix, "csc": sparse.csc_matrix, "old": sparse.csr_matrix}[kind](table)
    group = file.create_group("X")
    for name in ("data", "indices", "indptr"):
        group[name] = getattr(stored, name)
    group.attrs["h5sparse_shape" if kind == "old" else "shape"] = table.shape
    group.attrs["h5sparse_format" if kind == "old" else "encoding-type"] = "csr" if kind == "old" else f"{kind}_matrix"


def write_column(obs, name: str, values: np.ndarray, kind: str) -> None:
    names, codes = np.unique(values, return_inverse=True)
    text = [str(each) for each in names]
    if kind == "old":
        obs[name] = codes.astype(np.int8)
        obs.require_group("__categories")[name] = text
    elif kind == "dense":
        obs[name] = [str(value) for value in values]
    else:
        column = obs.create_group(name)
        column["codes"], column["categories"] = codes.astype(np.int8), text


@pytest.fixture(params=["csr", "csc", "dense", "old"])
def file(tmp_path, request):
    path = tmp_path / "cells.h5ad"
    with h5py.File(path, "w") as stored:
        write_matrix(stored, request.param)
        obs = stored.create_group("obs")
        write_column(obs, "patient", DONORS, request.param)
        write_column(obs, "celltype", TYPES, request.param)
    return path


def test_what_was_written_is_read(file):
    found = read_h5ad(file, donor="patient", cell_type="celltype")
    matrix = found.expression.toarray() if sparse.issparse(found.expression) else found.expression
    np.testing.assert_array_equal(matrix, expression())
    assert found.donors.tolist() == DONORS.tolist()
    assert found.types.tolist() == TYPES.tolist()
    assert set(found.of_types(("B", "T")).types) == {"B", "T"}


def test_what_is_not_there_is_named(file, tmp_path):
    with pytest.raises(AbsentError, match="no column donor; it has celltype, patient"):
        read_h5ad(file, donor="donor", cell_type="celltype")
    with pytest.raises(AbsentError, match="no file"):
        read_h5ad(tmp_path / "none.h5ad", donor="patient", cell_type="celltype")
    with pytest.raises(AbsentError, match="of type X"):
        read_h5ad(file, donor="patient", cell_type="celltype").of_types(("X",))
    with pytest.raises(AbsentError, match="TRUECOUNT_DATA"):
        read_blood(None, "cell_type")


def test_every_donor_is_quantified_once_and_three_are_labelled():
    turns = list(cells.rotations(DONORS))
    assert [turn[0] for turn in turns] == sorted(set(DONORS))
    for quantified, labeled, training in turns:
        assert len(labeled) == 3
        assert sorted([quantified, *labeled, *training]) == sorted(set(DONORS))
    assert [len(turn[1]) for turn in cells.rotations(np.array(["a", "b", "c"]))] == [1, 1, 1]


def test_the_command_runs_on_a_file(tmp_path):
    path, out = tmp_path / "cells.h5ad", tmp_path / "out"
    with h5py.File(path, "w") as stored:
        write_matrix(stored, "csr")
        write_column(stored.create_group("obs"), "patient", DONORS, "csr")
        write_column(stored["obs"], "celltype", TYPES, "csr")
    columns = ["--donor-column", "patient", "--type-column", "celltype", "--quantify", "d2"]
    assert main(["--cells", str(path), "--out", str(out), *columns]) == 0
    shares = report.read("cells", out)["shares"]
    assert shares["donor"].unique().tolist() == ["d2"]
    assert (shares["posterior"] - 1 / 3).abs().max() < 0.35
    assert "Single cells" in (out / "RESULTS.md").read_text(encoding="utf-8")
    assert (out / "cells-shares.png").stat().st_size > 1000
    with pytest.raises(SystemExit):
        main(["--cells", str(path)])
