"""Log answers to a run of MLflow, and print what it holds as JSON: `python log_to_mlflow.py FOLDER`."""

import json
import os
import sys

os.chdir(sys.argv[1])

import mlflow  # noqa: E402

import truecount as tc  # noqa: E402
from truecount.mlflow import log_answer  # noqa: E402

mlflow.set_tracking_uri("sqlite:///store.db")
counts = tc.Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass & go"])
groups = tc.Groups([[140, 60], [20, 180]], {"A": [60, 40], "B": [40, 60]}, ["fail", "pass & go"], by=("model",))
with mlflow.start_run() as run:
    log_answer(tc.infer(counts, seed=1))
    log_answer(tc.infer(groups, seed=1), prefix="models")
    log_answer(tc.estimate(counts, "cc"), prefix="plain", step=3)
found = mlflow.get_run(run.info.run_id)
answer = mlflow.artifacts.load_dict(f"{found.info.artifact_uri}/truecount/answer.json")
text = mlflow.artifacts.load_text(f"{found.info.artifact_uri}/truecount/answer.txt")
told = {"metrics": found.data.metrics, "tags": found.data.tags, "answer": answer, "text": text}
sys.stdout.write(json.dumps(told))
