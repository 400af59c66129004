"""Run OpenAI evals, and leave its record in a folder: `python write_openai_evals.py FOLDER`."""

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from items import ITEMS

folder = Path(sys.argv[1])
for part in ("evals", "completion_fns", "data"):
    (folder / "registry" / part).mkdir(parents=True)
samples = folder / "registry" / "data" / "samples.jsonl"
lines = [
    {"input": [{"role": "user", "content": f"{item.name}: {item.verdict}"}], "ideal": item.human or "unknown"}
    for item in ITEMS
]
samples.write_text("".join(json.dumps(line) + "\n" for line in lines))
(folder / "registry" / "evals" / "judged.yaml").write_text(
    f"""judged:
  id: judged.dev.v0
  metrics: [accuracy]
judged.dev.v0:
  class: evals.elsuite.basic.match:Match
  args:
    samples_jsonl: {samples}
"""
)
(folder / "registry" / "completion_fns" / "say.yaml").write_text("say:\n  class: saying:Say\n")
(folder / "saying.py").write_text(
    """from evals.api import CompletionResult
from evals.record import record_sampling


class Said(CompletionResult):
    def __init__(self, text):
        self.text = text

    def get_completions(self):
        return [self.text]


class Say:
    def __init__(self, **options):
        pass

    def __call__(self, prompt, **options):
        text = str(prompt[-1]["content"]).split(": ")[-1]
        record_sampling(prompt=prompt, sampled=[text])
        return Said(text)
"""
)
environment = {**os.environ, "PYTHONPATH": str(folder), "OPENAI_API_KEY": "none", "EVALS_SEQUENTIAL": "1"}
start = "import sys; from evals.cli.oaieval import main; sys.argv[0] = 'oaieval'; main()"
command = [sys.executable, "-c", start, "say", "judged"]
options = ["--registry_path", str(folder / "registry"), "--record_path", str(folder / "record.jsonl")]
subprocess.run([*command, *options], check=True, env=environment, capture_output=True)
print(f"evals {version('evals')}")
