"""Counts in a notebook: the same table as in text, any name escaped."""

import re

import numpy as np

from truecount import Counts


def test_notebooks_show_every_cell_in_its_place() -> None:
    counts = Counts([[9, 1, 0], [2, 8, 5]], [30, 20, 10], classes=["a", "b"], outputs=["x", "y", "z"])
    rows = re.findall(r"<tr>(.*?)</tr>", counts._repr_html_())
    cells = [re.findall(r">([^<>]+)</t[hd]>", row) for row in rows]
    assert cells == [
        ["class\\output", "x", "y", "z"],
        ["a", "9", "1", "0"],
        ["b", "2", "8", "5"],
        ["unlabelled", "30", "20", "10"],
    ]
    assert "25 labelled and 60 unlabelled items" in counts._repr_html_()


def test_names_are_escaped() -> None:
    page = Counts([[1, 2], [3, 4]], [5, 6], classes=["<script>", "&"])._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_large_tables_are_only_summed_up() -> None:
    counts = Counts(np.ones((40, 40), int), np.ones(40, int))
    assert "<table>" not in counts._repr_html_()
    assert "1600 labelled" in counts._repr_html_()
