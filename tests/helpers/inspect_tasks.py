"""Tasks that Inspect runs on its mock model, and the logs that it writes of them."""

import contextlib
import gc
import warnings
from pathlib import Path

from inspect_ai import Task, eval, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalSample,
    EvalSpec,
    write_eval_log,
)
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, includes, match, mean, scorer
from inspect_ai.solver import generate, solver

ODD = ["C", "I", "P", "N", None, float("nan"), 0.25, 1, True, "yes", "0.75"]


@scorer(metrics=[mean()])
def odd():
    """Every kind of value in turn."""

    async def score(state, target):
        value = ODD[int(state.sample_id) % len(ODD)]
        return None if value is None else Score(value=value)

    return score


@scorer(metrics={"*": [mean()]})
def parts():
    """Two values of one score; the second is missing on the first sample."""

    async def score(state, target):
        number = int(state.sample_id)
        return Score(value={"form": int(number % 3 == 0), "style": 0.5 if number else None})

    return score


@solver
def stumbling(marker):
    """Fail on the fourth sample until there is a file; the model is never asked."""

    async def solve(state, generate):
        if state.sample_id == 3 and not Path(marker).exists():
            raise RuntimeError("stumbled")
        state.output = ModelOutput.from_content("mock", state.input_text.split()[-1])
        return state

    return solve


@task
def stumble(marker):
    """A task that Inspect knows by name, so that it can retry it."""
    return Task(samples(12), solver=stumbling(marker), scorer=match())


def model(name="mockllm/model", **settings):
    """A model that repeats the number in the question, without a tokenizer from the network."""

    def answer(messages, *_):
        made = ModelOutput.from_content("mock", messages[-1].text.split()[-1])
        made.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return made

    return get_model(name, custom_outputs=answer, memoize=False, **settings)


def samples(count, metadata=lambda number: {"digits": number}):
    """Every second question's target is what the model answers."""
    return MemoryDataset(
        [
            Sample(
                id=number,
                input=f"Repeat {number}",
                target=str(number if number % 2 else number + 1),
                metadata=metadata(number),
            )
            for number in range(count)
        ]
    )


def run(folder, *, format="eval", scorers=None, dataset=None, **options):
    """Let Inspect write one log of the task `sums`."""
    scorers = scorers or [includes(), match(), odd(), parts()]
    made = Task(dataset or samples(12), name="sums", solver=generate(), scorer=scorers)
    options = {"model": model()} | options
    return quietly(eval, made, folder, log_format=format, log_realtime=False, **options)


def quietly(ask, what, folder, **options):
    """Run or retry one task; the log is written into the folder."""
    with contextlib.chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tool's own, of its own packages
        [log] = ask(what, log_dir=str(folder), display="none", score_display=False, **options)
        gc.collect()  # streams that a failed run left open
    return log


def written_sample(number=1, value="C", **fields):
    """A sample for `write`, with one score, or none."""
    scores = None if value is None else {"match": Score(value=value)}
    own = {"id": number, "epoch": 1, "input": f"q{number}", "target": "2", "scores": scores}
    return EvalSample(**own | {name: _text(name, field) for name, field in fields.items()})


def _text(name, field):
    return str(field) if name == "input" and isinstance(field, int) else field


def write(path, *samples, status="success", log=None, **fields):
    """Write a log of the task `sums` by Inspect's own classes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    spec = {"created": "2026-01-31T12:00:00+00:00", "task": "sums", "model": "tiny"}
    spec |= {"dataset": EvalDataset(), "config": EvalConfig()} | fields
    made = EvalLog(eval=EvalSpec(**spec), status=status, samples=list(samples), **(log or {}))
    write_eval_log(made, path, format="eval" if path.suffix == ".eval" else "json")
    return path
