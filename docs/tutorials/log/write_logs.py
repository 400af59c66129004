"""Let tools log the answers of `items.py`, and leave their files beside this one: `python write_logs.py TOOL …`.

Run it with an interpreter that has the tool, as `.ci/install tools` makes one. What runs a tool is its script in
`tests/writers`; promptfoo's command is named by `TRUECOUNT_PROMPTFOO`.
"""

import json
import os
import runpy
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
WRITERS = HERE.parents[2] / "tests" / "writers"
FILES = {
    "deepeval": {"results/test_run_*.json": "deepeval.json"},
    "langsmith": {"flat.jsonl": "langsmith.jsonl"},
    "lm_eval": {"out/**/samples_free_*.jsonl": "samples_free.jsonl"},
    "mlflow": {"**/eval_results_table.json": "eval_results_table.json"},
    "openai_evals": {"record.jsonl": "openai_evals.jsonl"},
    "phoenix": {"table.parquet": "phoenix.parquet"},
    "promptfoo": {"rated.json": "promptfoo.json"},
}
"""Which of the files that a tool's script leaves are kept, and under which name."""


def copy(written: Path, target: Path) -> None:
    """Copy a file; one of JSON without the blanks that only people read."""
    if target.suffix == ".json":
        told = json.loads(written.read_text(encoding="utf-8"))
        target.write_text(json.dumps(told, separators=(",", ":")) + "\n", encoding="utf-8")
    else:
        shutil.copy(written, target)


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))  # the scripts import `items`
    for tool in sys.argv[1:] or FILES:
        with tempfile.TemporaryDirectory() as folder:
            sys.argv[1:] = [folder, os.environ.get("TRUECOUNT_PROMPTFOO", "promptfoo")]
            runpy.run_path(str(WRITERS / f"write_{tool}.py"), run_name="__main__")
            for pattern, name in FILES[tool].items():
                [written] = Path(folder).glob(pattern)
                copy(written, HERE / name)
            os.chdir(HERE)
