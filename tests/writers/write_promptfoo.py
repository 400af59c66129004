"""Run promptfoo, rate results as its viewer does, and leave its files: `python write_promptfoo.py FOLDER COMMAND`."""

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from items import ITEMS

folder, command = Path(sys.argv[1]), sys.argv[2]
PORT = "15517"
config = {
    "prompts": ["judge {{name}}"],
    "providers": ["file://provider.js"],
    "tests": [
        {"vars": item._asdict(), "metadata": {"human": item.human}, "assert": [{"type": "equals", "value": "C"}]}
        for item in ITEMS
    ],
}
shutil.copy(Path(__file__).parent / "promptfoo" / "provider.js", folder)
(folder / "config.json").write_text(json.dumps(config))
quiet = ("TELEMETRY", "UPDATE", "REMOTE_GENERATION", "SHARING")
environment = os.environ | {f"PROMPTFOO_DISABLE_{name}": "1" for name in quiet}
environment |= {"PROMPTFOO_CONFIG_DIR": str(folder / "home"), "PROMPTFOO_SELF_HOSTED": "1"}


def run(*arguments, expected=(0,)):
    done = subprocess.run(
        [command, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode not in expected:
        raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])


def rate(evaluation, result, *, passed):
    """Post what the viewer posts where someone presses a thumb."""
    grading = result["gradingResult"]
    told = {"pass": passed, "score": float(passed), "reason": "Manual result (overrides all other grading results)"}
    rating = {
        **grading,
        **told,
        "componentResults": [*grading["componentResults"], {**told, "assertion": {"type": "human"}}],
    }
    address = f"http://localhost:{PORT}/api/eval/{evaluation}/results/{result['id']}/rating"
    request = urllib.request.Request(address, json.dumps(rating).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        answer.read()


def wait():
    for _ in range(240):
        try:
            with urllib.request.urlopen(f"http://localhost:{PORT}/health"):
                return
        except OSError:
            time.sleep(0.5)
    raise RuntimeError("the viewer did not start")


# 100: some assertions failed
run(
    "eval",
    "-c",
    "config.json",
    "--no-cache",
    "--no-table",
    "-o",
    "results.json",
    "-o",
    "results.jsonl",
    expected=(0, 100),
)
told = json.loads((folder / "results.json").read_text())
viewer = subprocess.Popen(
    [command, "view", "--port", PORT, "--no"],
    cwd=folder,
    env=environment,
    stdout=subprocess.DEVNULL,
    stderr=subprocess.DEVNULL,
)
try:
    wait()
    for result in told["results"]["results"]:
        if result["vars"]["human"] is not None and result.get("gradingResult"):
            rate(told["evalId"], result, passed=result["vars"]["human"] == "C")
finally:
    viewer.terminate()
    viewer.wait()
run("export", "eval", told["evalId"], "-o", "rated.json")
print(f"promptfoo {told['metadata']['promptfooVersion']}")
