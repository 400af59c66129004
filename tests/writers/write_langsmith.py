"""Let LangSmith evaluate without its server, and leave its table in a folder: `python write_langsmith.py FOLDER`."""

import json
import os
import sys
from importlib.metadata import version
from uuid import uuid4

os.environ |= {"LANGSMITH_TRACING": "false", "LANGSMITH_API_KEY": "none"}

from items import ITEMS
from langsmith import evaluate
from langsmith.schemas import Example

examples = [
    Example(
        id=uuid4(),
        dataset_id=uuid4(),
        inputs={"item": item.name, "verdict": item.verdict},
        outputs={"human": item.human},
    )
    for item in ITEMS
]


def judged(inputs: dict) -> dict:
    return {"verdict": inputs["verdict"]}


def verdict(run, example):
    return {"key": "judge", "value": run.outputs["verdict"]}


results = evaluate(judged, data=examples, evaluators=[verdict], upload_results=False, max_concurrency=1)
frame = results.to_pandas()
frame.to_json(f"{sys.argv[1]}/flat.jsonl", orient="records", lines=True, default_handler=str)
with open(f"{sys.argv[1]}/nested.jsonl", "w") as stream:
    for row in results:
        told = {"run": row["run"].model_dump(mode="json"), "example": row["example"].model_dump(mode="json")}
        stream.write(json.dumps(told) + "\n")
print(f"langsmith {version('langsmith')}")
