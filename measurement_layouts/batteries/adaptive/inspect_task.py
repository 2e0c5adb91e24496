"""Adaptive test as an evaluation of Inspect, which runs samples in the order of the test."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from ...common.errors import DataError
from ...common.given import refuse_other
from ...common.messages import some
from ...common.optional import need
from ...common.options import whole
from ...evaluations.logs.attempts import read_scores
from ...evaluations.notes import Notes
from ...evaluations.tables import is_missing
from ...layouts import Graded
from .adaptive_test import AdaptiveTest

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.dataset import Sample
    from inspect_ai.log import EvalSample

_REMEDY = "choose another scorer, or record outcomes by AdaptiveTest.record"


def adaptive_task(
    task: "Task",
    test: AdaptiveTest,
    *,
    connections: int = 4,
    scorer: str | Mapping[str, str] | None = None,
    retried: bool = False,
) -> "Task":
    """Turn a task of Inspect into one that asks the items of an adaptive test, until it is done.

    The task's solver, scorer, sandboxes and limits are not changed, and Inspect writes its log as
    usual. When a sample is finished, its score is recorded and the next sample is chosen. The log
    contains only samples that were asked.

    A test with a file can be continued after an interruption: load it and make the task again.
    Samples that were in flight or failed are asked first.

    Parameters
    ----------
    task : inspect_ai.Task
        Task whose data set has a sample for each item of the test's bank. The name of an item is
        the sample's id (or, without an id, its number from 1), or ``task/id``, as in
        `read_inspect`. Samples that are not in the bank are not asked.
    test : AdaptiveTest
        Test of one subject, so that the task must be run with one model. Each of the task's epochs
        is a trial of the item.
    connections : int, default 4
        Number of samples in flight at a time; those after the first are chosen before the outcomes
        of the others are known. Inspect runs at most its ``max_samples``.
    scorer : str or mapping of str to str, optional
        Scorer of the outcome, or scorers by outcome of the layout; needed if there are several. One
        value of a score that is a dictionary is ``name/key``. Scores are read as in `read_inspect`;
        a graded outcome takes the score unchanged: the grade's name or its number.
    retried : bool
        Whether `inspect_ai.eval_retry` or `inspect_ai.eval_set` runs the task, with a test that is
        loaded from its file if there is one. Answered samples are then requested as well, and
        Inspect copies them from the former log to the new one. Any other run would ask them again.

    Returns
    -------
    inspect_ai.Task
        A new task.

    Raises
    ------
    DataError
        When `task` or `test` is something else, an item of the bank has no sample, or two samples
        have one name. While the task runs: when there are several scorers and none is chosen, a
        score is not an outcome, or a sample is answered twice.
    FitError
        When `connections` is not a whole number above 0.
    AnnotationError
        When inspect-ai is not installed, with the command that installs it.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from inspect_ai import Task
    >>> from inspect_ai.dataset import Sample
    >>> from inspect_ai.scorer import match
    >>> from measurement_layouts import Capability, Layout, MetaFeature, Success
    >>> from measurement_layouts.linking import logistic
    >>> margin = Capability("adding", low=0, high=9) - MetaFeature("digits", low=0, high=9)
    >>> layout = Layout("sums", Success("right", logistic(margin)))
    >>> bank = pd.DataFrame({"digits": range(1, 9)}, index=[f"sum-{n}" for n in range(1, 9)])
    >>> sums = Task([Sample(id=f"sum-{n}", input="9" * n + " + 1 =", target=str(10**n))
    ...              for n in range(1, 9)], scorer=match())
    >>> test = AdaptiveTest(layout, bank, seed=1)
    >>> adapted = adaptive_task(sums, test, connections=2)
    >>> len(adapted.dataset), len(sums.dataset), test
    (2, 8, <AdaptiveTest of 'sums': 0 of 8 items answered, 2 in flight>)
    """
    inspect = need("inspect_ai", "inspect-ai")
    refuse_other("test", test, AdaptiveTest, "an AdaptiveTest", "AdaptiveTest(layout, bank) is one")
    refuse_other("task", task, inspect.Task, "a Task of Inspect", "Task(dataset, solver) is one")
    layout, epochs = test.layout, task.epochs or 1
    if epochs > 1 and layout.steps is not None:
        raise DataError(
            f"the task has {epochs} epochs, and layout {layout.name!r} has grades, scores or "
            "several outcomes, which are recorded once for each item; give epochs=1"
        )
    names = [outcome.name for outcome in layout.outcomes]
    scorers = scorer if isinstance(scorer, Mapping) else dict.fromkeys(names[:1], scorer)
    if set(scorers) != set(names):
        raise DataError(
            f"scorer={scorer!r}, and the layout's outcomes are {some(names)}; give a scorer for "
            "each, as in scorer={outcome: scorer}"
        )
    run = _Run(test, _samples(task, test), epochs, whole("connections", connections, 1), scorers)
    answered = test.history["item"].tolist() if retried else []
    first = [run.samples[name] for name in (*answered, *test.in_flight)] + run.ask()
    source = inspect.SampleSource.from_samples(
        first, next_samples=run.idle, sample_complete=run.complete
    )
    adapted: Task = inspect.task_with(copy.copy(task), dataset=source)
    return adapted


def _samples(task: "Task", test: AdaptiveTest) -> dict[str, "Sample"]:
    """Find the sample of each item of the bank, by the item's name."""
    samples: dict[str, Sample] = {}
    for number, sample in enumerate(task.dataset, start=1):
        identified = sample.model_copy(update={"id": number if sample.id is None else sample.id})
        if str(identified.id) in samples:
            raise DataError(f"two samples of the task have the id {sample.id}; give each its own")
        samples[str(identified.id)] = identified
    by_name = {f"{task.name}/{name}": sample for name, sample in samples.items()} | samples
    if len(missing := test.bank.index.difference(list(by_name))):
        raise DataError(
            f"{len(missing)} item(s) of the bank have no sample in task {task.name}: "
            f"{some(missing)}; its ids are {some(samples)}: give items these names, or drop them"
        )
    return {name: by_name[name] for name in test.bank.index}


@dataclass
class _Run:
    """Connection of a running task and the test: samples asked, and their outcomes by epoch."""

    test: AdaptiveTest
    samples: Mapping[str, "Sample"]
    epochs: int
    connections: int
    scorers: Mapping[str, str | None]
    scored: dict[str, dict[int, dict[str, Any]]] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)  # in flight, without further results in this run

    def ask(self) -> list["Sample"]:
        """Choose samples until enough are in flight."""
        before = self.test.in_flight
        free = self.connections - len(set(before) - self.failed)
        if free <= 0 or self.test.done:
            return []
        return [self.samples[name] for name in self.test.next(len(before) + free)[len(before) :]]

    async def complete(self, sample: "EvalSample") -> list["Sample"]:
        """Record a sample that Inspect has finished, and choose the next one."""
        name = next(name for name, asked in self.samples.items() if asked.id == sample.id)
        scored = self.scored.setdefault(name, {})
        if sample.epoch in scored:
            raise DataError(
                f"sample {sample.id} was answered twice, in epoch {sample.epoch}: a test is of one "
                "subject; run the task with one model, and make a test and a task for each"
            )
        scored[sample.epoch] = self.outcomes(sample)
        if len(scored) == self.epochs:
            self.record(name)
        return self.ask()

    async def idle(self) -> list["Sample"] | None:
        """Choose samples in place of those that failed; Inspect calls it when none is running."""
        for name in self.test.in_flight:
            self.record(name)
        return self.ask() or None

    def record(self, name: str) -> None:
        """Record the outcomes of an item's epochs; an item that failed stays in flight."""
        if name not in self.test.in_flight:
            return  # a sample of an earlier run, recorded then
        outcomes = [outcome for outcome in self.scored.get(name, {}).values() if outcome]
        if not outcomes:
            self.failed.add(name)
        elif self.test.layout.steps is not None:
            self.test.record(name, outcomes[0])
        else:
            successes = sum(value for outcome in outcomes for value in outcome.values())
            self.test.record(name, successes, trials=len(outcomes))

    def outcomes(self, sample: "EvalSample") -> dict[str, Any]:
        """Read a sample's scores as outcomes; none if it failed or one is missing."""
        scores: dict[str, Any] = {}
        for name, score in (sample.scores or {}).items():
            keyed = score.value if isinstance(score.value, Mapping) else None
            scores |= (
                {name: score.value}
                if keyed is None
                else {f"{name}/{key}": value for key, value in keyed.items()}
            )
        outcomes: dict[str, Any] = {}
        for node in self.test.layout.outcomes if scores and sample.error is None else []:
            scorer = self.scorers[node.name] or (next(iter(scores)) if len(scores) == 1 else None)
            if scorer not in scores:
                raise DataError(
                    f"sample {sample.id} has scores by {some(scores)}, not by {scorer}; choose one "
                    f"of them: scorer={next(iter(scores))!r}"
                )
            outcomes[node.name] = scores[scorer]
            if not isinstance(node, Graded):
                single = pd.Series([scores[scorer]], [f"sample {sample.id}"], dtype=object)
                value = read_scores(single, f"scorer {scorer}", Notes(), _REMEDY)[0]
                outcomes[node.name] = float(value)
        return {} if any(map(is_missing, outcomes.values())) else outcomes
