"""Run Inspect (`pip install inspect-ai`) on simulated answers, and leave its log beside this file.

A judge says C (correct), P (partly) or I (incorrect) of each answer; people have read the first 50 of 100 questions.
The truth is simulated: 55 % of the answers are correct. Every question is asked twice (epochs).
"""

import random
import shutil
import tempfile
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score, accuracy, scorer
from inspect_ai.solver import solver

QUESTIONS, READ, CORRECT = 100, 50, 0.55
JUDGE = {"C": (0.90, 0.06, 0.04), "I": (0.15, 0.20, 0.65)}
"""How often the judge says C, P and I of a correct and of an incorrect answer."""


def simulated(number: int, epoch: int) -> tuple[str, str]:
    """Return the true class of an answer and the judge's verdict; two answers to a question are mostly alike."""
    shared, own = random.Random(f"question {number}"), random.Random(f"{number} {epoch}")
    truth = "C" if (shared.random() if own.random() < 0.9 else own.random()) < CORRECT else "I"
    return truth, own.choices("CPI", JUDGE[truth])[0]


@solver
def answer():
    """Answer without a model: what counts is simulated."""

    async def solve(state, generate):
        state.output = ModelOutput.from_content("mockllm/model", "…")
        return state

    return solve


@scorer(metrics=[accuracy()])
def judge():
    """What a judge says of every answer."""

    async def score(state, target):
        return Score(value=simulated(state.sample_id, state.epoch)[1])

    return score


@scorer(metrics=[])
def human():
    """What people say of those that they read."""

    async def score(state, target):
        return Score(value=simulated(state.sample_id, state.epoch)[0]) if state.sample_id <= READ else None

    return score


@task
def judged():
    """Ask every question."""
    samples = [Sample(input=f"question {number}", target="", id=number) for number in range(1, QUESTIONS + 1)]
    return Task(dataset=samples, solver=answer(), scorer=[judge(), human()])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        evaluate(judged(), model="mockllm/model", epochs=2, log_dir=folder, display="none")
        [written] = Path(folder).glob("*.eval")
        shutil.copy(written, Path(__file__).with_name("judged.eval"))
    truths = [simulated(number, epoch)[0] for number in range(READ + 1, QUESTIONS + 1) for epoch in (1, 2)]
    print(f"{truths.count('C')} of the {len(truths)} answers that nobody read are correct")
