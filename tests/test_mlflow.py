"""An answer in a run of MLflow: metrics, tags and artifacts hold what the answer does."""

import json
import re
import shutil
from pathlib import Path

import pytest

import truecount as tc
from as_printed import TUTORIALS, assert_as_printed, blocks
from written_by import WRITERS, require, run_tool

COUNTS = tc.Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass & go"])


def test_a_run_holds_shares_flags_and_findings(tmp_path: Path) -> None:
    require("mlflow")
    told = json.loads(run_tool(WRITERS / "log_to_mlflow.py", tmp_path).splitlines()[-1])
    answer = tc.infer(COUNTS, seed=1)
    metrics, tags = told["metrics"], told["tags"]
    assert told["answer"] == json.loads(json.dumps(answer.to_dict()))
    assert told["text"] == str(answer)
    assert metrics["truecount/share/pass _ go"] == pytest.approx(answer.mean[1])
    assert metrics["truecount/counted/fail"] == 0.6
    assert [metrics["truecount/lower/fail"], metrics["truecount/upper/fail"]] == pytest.approx(answer.interval()[0])
    assert metrics["truecount/findings/serious"] == 0
    assert (tags["truecount.corrected"], tags["truecount.status"]) == ("true", "ok")
    assert {"models/share/A/fail", "models/share/B/fail"} <= set(metrics)
    assert tags["plain.corrected"] == "false"
    assert metrics["plain/share/fail"] == 0.6


def test_the_tutorial_prints_what_it_shows(tmp_path: Path) -> None:
    """The part that logs runs after the cells that read, beside the table."""
    require("mlflow")
    page = (TUTORIALS / "mlflow.md").read_text(encoding="utf-8")
    [read] = re.findall(r"```\{code-cell\} python\n(import truecount.*?)```", page, flags=re.DOTALL)
    code, shown = zip(*blocks("mlflow"), strict=True)
    script = tmp_path / "page.py"
    script.write_text("print('----')\n".join([read, *code]), encoding="utf-8")
    shutil.copy(TUTORIALS / "log" / "eval_results_table.json", tmp_path)
    printed = run_tool(script, folder=tmp_path).split("----\n")[1:]
    for told, found in zip(shown, printed, strict=True):
        assert_as_printed(told, found)


def test_without_mlflow_the_extra_is_named() -> None:
    from importlib.util import find_spec

    if find_spec("mlflow") is not None:
        pytest.skip("MLflow is installed here")
    from truecount.mlflow import log_answer

    with pytest.raises(ImportError, match=r"truecount\[mlflow\]"):
        log_answer(tc.infer(COUNTS))
