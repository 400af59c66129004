"""Let the evaluators of Phoenix judge a table, and leave it in a folder: `python write_phoenix.py FOLDER`."""

import json
import sys
from importlib.metadata import version

import pandas as pd
from items import ITEMS
from phoenix.evals import Score, create_evaluator, evaluate_dataframe


@create_evaluator(name="judge", kind="code")
def judge(verdict: str) -> Score:
    return Score(name="judge", label=verdict, score=float(verdict == "C"), metadata={"sure": True}, kind="code")


frame = evaluate_dataframe(pd.DataFrame([item._asdict() for item in ITEMS]), [judge])
scores = [json.loads(score) if isinstance(score, str) else score for score in frame["judge_score"]]
frame["judge_score"] = scores
frame.to_json(f"{sys.argv[1]}/table.jsonl", orient="records", lines=True)
frame[["human", "topic", "judge_score"]].to_parquet(f"{sys.argv[1]}/table.parquet")
print(f"phoenix {version('arize-phoenix-evals')}")
