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
documents = [{**item._asdict(), "human": item.human or "", "choices": list("CPIN")} for item in ITEMS]
(folder / "items.jsonl").write_text("".join(json.dumps(each) + "\n" for each in documents))
COMMON = f"""
dataset_path: json
dataset_kwargs:
  data_files: {{test: {folder / "items.jsonl"}}}
test_split: test
doc_to_text: "{{{{name}}}}: {{{{verdict}}}}"
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
  - name: lower
    filter: [{function: lowercase}, {function: take_first}]
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
"""
SAYING = """from lm_eval.__main__ import cli_evaluate
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model


@register_model("say")
class Say(LM):
    def __init__(self, **options):
        super().__init__()

    def generate_until(self, requests, disable_tqdm=False):
        return [request.args[0].split(": ")[-1] for request in requests]

    def loglikelihood(self, requests, disable_tqdm=False):
        asked = [request.args for request in requests]
        return [(-float(text.split(": ")[-1] != said.strip()), False) for text, said in asked]

    def loglikelihood_rolling(self, requests, disable_tqdm=False):
        raise NotImplementedError


cli_evaluate()
"""
(tasks / "choice.yaml").write_text(CHOICE + COMMON)
(tasks / "free.yaml").write_text(FREE + COMMON)
(folder / "saying.py").write_text(SAYING)
offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HOME": str(folder / "cache")}
run = [str(folder / "saying.py"), "--model", "say", "--tasks", "choice,free", "--include_path", str(tasks)]
output = ["--output_path", str(folder / "out"), "--log_samples"]
subprocess.run([sys.executable, *run, *output], check=True, env={**os.environ, **offline}, capture_output=True)
print(f"lm_eval {version('lm_eval')}")
