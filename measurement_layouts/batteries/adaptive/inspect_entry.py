"""Inspect's task ``measurement_layouts/adaptive``, which asks another task's samples adaptively."""

from pathlib import Path

import inspect_ai
from inspect_ai import Task
from inspect_ai._eval.loader import load_tasks

from ...common.errors import DataError
from .adaptive_test import AdaptiveTest
from .inspect_task import adaptive_task


@inspect_ai.task
def adaptive(
    task: str, test: str, connections: int = 4, scorer: str | None = None, retried: bool = False
) -> Task:
    """Ask the samples of a task in the order of an adaptive test, until it is done.

    ``inspect eval measurement_layouts/adaptive -T task=sums.py@sums -T test=ann.jsonl``

    Parameters
    ----------
    task : str
        The task, as the command ``inspect eval`` takes it: ``file.py@task`` or ``package/task``.
    test : str
        File of the test, which `AdaptiveTest` wrote by ``path=``; it is continued.
    connections, scorer, retried
        As in `adaptive_task`.

    Raises
    ------
    DataError
        When there is not one such task.
    """
    tasks = load_tasks([task])
    if len(tasks) != 1:
        raise DataError(f"task={task!r} are {len(tasks)} tasks; name one, as in sums.py@sums")
    state = AdaptiveTest.load(Path(test))
    return adaptive_task(tasks[0], state, connections=connections, scorer=scorer, retried=retried)
