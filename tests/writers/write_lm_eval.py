"""Run lm-evaluation-harness on two tasks, and leave its logs in a folder: `python write_lm_eval.py FOLDER`."""

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from items import ITEMS

folder = Path(sys.argv[1])
tasks = folder / "tasks"
tasks.mkdir(parents=True)
documents = [{**item._asdict(), "human": item.human or "", "choices": ["C", "I"]} for item in ITEMS]
(folder / "items.jsonl").write_text("".join(json.dumps(each) + "\n" for each in documents))
COMMON = f"""
dataset_path: json
dataset_kwargs:
  data_files: {{test: {folder / "items.jsonl"}}}
test_split: test
doc_to_text: "{{{{name}}}}"
"""
CHOICE = """task: choice
output_type: multiple_choice
doc_to_choice: "{{choices}}"
doc_to_target: "{{choices.index(human) if human in choices else 0}}"
metric_list:
  - metric: acc
    aggregation: mean
    higher_is_better: true
"""
FREE = """task: free
output_type: generate_until
doc_to_target: "{{human}}"
generation_kwargs: {until: ["\\n"]}
filter_list:
  - name: first
    filter: [{function: take_first}]
  - name: upper
    filter: [{function: uppercase}, {function: take_first}]
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
"""
(tasks / "choice.yaml").write_text(CHOICE + COMMON)
(tasks / "free.yaml").write_text(FREE + COMMON)
offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HOME": str(folder / "cache")}
run = ["-m", "lm_eval", "--model", "dummy", "--tasks", "choice,free", "--include_path", str(tasks)]
output = ["--output_path", str(folder / "out"), "--log_samples"]
subprocess.run([sys.executable, *run, *output], check=True, env={**os.environ, **offline}, capture_output=True)
print(f"lm_eval {version('lm_eval')}")
