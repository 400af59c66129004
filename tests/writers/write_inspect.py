"""Run Inspect, and leave its logs in a folder: `python write_inspect.py FOLDER`."""

import os
import sys
from importlib.metadata import version

from inspect_ai import Task, eval_retry, task
from inspect_ai import eval as evaluate
from inspect_ai.analysis import samples_df
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score, accuracy, scorer
from inspect_ai.solver import solver
from items import ITEMS

folder = sys.argv[-1]


@solver
def say():
    async def solve(state, generate):
        if state.sample_id == "item 20" and state.metadata["may_break"] and "REPAIRED" not in os.environ:
            raise RuntimeError("the sandbox is gone")
        state.output = ModelOutput.from_content("mockllm/model", state.metadata["say"])
        return state

    return solve


@scorer(metrics=[accuracy()])
def judge():
    async def score(state, target):
        return Score(value=state.output.completion, explanation="because", metadata={"sure": True})

    return score


@scorer(metrics=[])
def human():
    async def score(state, target):
        label = state.metadata.get("human")
        return None if label is None else Score(value=label)

    return score


def dataset(may_break=False):
    return [
        Sample(
            input=item.name,
            target="C",
            id=item.name,
            metadata={"human": item.human, "topic": item.topic, "say": item.verdict, "may_break": may_break},
        )
        for item in ITEMS
    ]


@task
def judged(may_break=False, with_human=True):
    scorers = [judge(), human()] if with_human else [judge()]
    return Task(dataset=dataset(may_break), solver=say(), scorer=scorers)


def run(where, asked, **options):
    return evaluate(asked, model="mockllm/model", log_dir=f"{folder}/{where}", display="none", **options)[0]


if __name__ == "__main__":  # a retry reads this file again, for its task
    run("archive", judged(), epochs=2)
    run("json", judged(), log_format="json", epochs=2)
    run("one_scorer", judged(with_human=False))
    run("with_error", judged(may_break=True), fail_on_error=False)
    failed = run("retried", judged(may_break=True), fail_on_error=True, max_samples=1)
    os.environ["REPAIRED"] = "yes"
    eval_retry(failed, log_dir=f"{folder}/retried", display="none")
    samples_df(f"{folder}/archive").to_parquet(f"{folder}/samples.parquet")
    print(f"inspect_ai {version('inspect_ai')}")
