"""Let MLflow evaluate and log tables, and leave its store in a folder: `python write_mlflow.py FOLDER`."""

import os
import sys
from importlib.metadata import version

os.chdir(sys.argv[1])

import mlflow  # noqa: E402
import pandas as pd  # noqa: E402
from items import ITEMS  # noqa: E402
from mlflow.metrics import MetricValue, make_metric  # noqa: E402

mlflow.set_tracking_uri("sqlite:///store.db")
frame = pd.DataFrame([item._asdict() for item in ITEMS])
agreement = make_metric(
    eval_fn=lambda predictions, targets=None, metrics=None: MetricValue(
        scores=[float(said == true) for said, true in zip(predictions, targets, strict=True)]
    ),
    greater_is_better=True,
    name="agreement",
)
with mlflow.start_run():
    mlflow.log_table(frame, "logged.json")
    mlflow.models.evaluate(
        data=frame, targets="human", predictions="verdict", extra_metrics=[agreement], evaluators="default"
    )
print(f"mlflow {version('mlflow')}")
