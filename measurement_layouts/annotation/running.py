"""Runs of annotation: tasks of Inspect, which asks about items, retries and keeps logs."""

import asyncio
import hashlib
import inspect
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..common.errors import AnnotationError
from ..common.optional import need
from ..common.options import whole
from .scheme import Scheme

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.log import EvalLog, EvalSample
    from inspect_ai.model import Model
    from inspect_ai.solver import Solver

type ModelOrName = str | Model
type Batch = tuple[Scheme, Mapping[str, str]]
"""A scheme, and the texts of items by name."""

_DELIVERY = {  # settings of how requests are sent, on which answers do not depend
    "adaptive_connections",
    "attempt_timeout",
    "batch",
    "cache",
    "cache_prompt",
    "max_connections",
    "max_retries",
    "stream_idle_timeout",
    "timeout",
}
_RUN: dict[str, Any] = {
    "display": "log",  # without a widget in notebooks
    "log_level": "error",  # items that fail are in the result
    "fail_on_error": False,  # an item that fails does not end the run
    "score": False,
    "log_buffer": 1,  # each item is in the log as soon as it is done
}
_INPUT = ("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write")
_AGAIN = "call again with the same log_dir: answers in the logs are not asked for again"


def run(
    batches: Mapping[str, Batch],
    model: ModelOrName,
    *,
    attempts: int = 3,
    log_dir: str | Path | None = None,
    **options: Any,
) -> tuple[str, list[pd.DataFrame]]:
    """Ask a model about all items that have no annotation in the logs.

    Parameters
    ----------
    batches : mapping of str to (Scheme, mapping of str to str)
        A scheme, and the text of each item, by the name of the batch, which its task has in
        Inspect.
    model : str or inspect_ai.model.Model
        The annotator.
    attempts : int, default 3
        Largest number of attempts for an item.
    log_dir : str or Path, optional
        Folder of Inspect's logs (default: logs are not kept).
    **options
        Options of `inspect_ai.eval`, and fields of its `GenerateConfig`.

    Returns
    -------
    annotator : str
        Name of the model.
    replies : list of DataFrame
        Replies of each batch, indexed by ``item``: the ``annotation`` by column (None if there is
        none), the ``reason`` why there is none (else empty), the last ``answer``, ``attempts``,
        ``input_tokens`` (with those in a provider's cache), ``output_tokens``, and ``seconds``.

    Raises
    ------
    AnnotationError
        When inspect-ai is not installed, an option is out of range or unknown, or the folder
        cannot be used.
    """
    attempts = whole("attempts", attempts, 1, AnnotationError)
    annotator = need("inspect_ai.model", "inspect-ai").get_model(model, memoize=False)
    about = [str(annotator), _settings(annotator, options)]
    identifiers = [
        {
            item: _identifier(item, *about, scheme.name, scheme.fingerprint, text)
            for item, text in texts.items()
        }
        for scheme, texts in batches.values()
    ]
    names = {name for of_batch in identifiers for name in of_batch.values()}
    interrupted = Event()
    with TemporaryDirectory() if log_dir is None else nullcontext(str(log_dir)) as folder:
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
            samples = _logged_samples(folder, names)
            tasks = []
            for (name, (scheme, texts)), of_batch in zip(batches.items(), identifiers, strict=True):
                waiting = {
                    identifier: texts[item]
                    for item, identifier in of_batch.items()
                    if all(sample.error for sample in samples[identifier])
                }
                if waiting:
                    tasks.append(_task(name, scheme, waiting, attempts, interrupted))
            if tasks:
                options = {**_RUN, **options}
                logs = _evaluate(tasks, interrupted, model=model, log_dir=folder, **options)
                _refuse_incomplete(logs, len(tasks))
                samples = _logged_samples(folder, names)
        except OSError as error:
            raise AnnotationError(
                f"cannot use {folder}: {error.strerror}; give another log_dir, or make room, and "
                f"{_AGAIN}"
            ) from error
    return str(annotator), [
        pd.DataFrame(
            [_reply(samples[name]) for name in of_batch.values()], pd.Index(of_batch, name="item")
        )
        for of_batch in identifiers
    ]


def _evaluate(tasks: Sequence["Task"], interrupted: Event, **options: Any) -> list["EvalLog"]:
    """Run tasks, in a thread where an event loop is running already, as in notebooks."""
    evaluate = need("inspect_ai", "inspect-ai").eval
    if not _in_event_loop():
        return list(evaluate(tasks, **options))
    with ThreadPoolExecutor(1) as thread:
        logs = thread.submit(evaluate, tasks, **options)
        try:
            return list(logs.result())
        except KeyboardInterrupt:
            interrupted.set()  # the thread ends with the requests that are under way
            raise


def _in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _refuse_incomplete(logs: Sequence["EvalLog"], count: int) -> None:
    """Refuse the logs of runs that did not come to their end; after Ctrl-C some are missing."""
    if len(logs) < count or any(log.status == "cancelled" for log in logs):
        raise KeyboardInterrupt
    for log in logs:
        if log.status == "error" and log.error:
            raise AnnotationError(
                f"the run of {log.eval.task!r} ended: {log.error.message}; {_AGAIN}"
            )


def _settings(model: "Model", options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of generation on which answers depend."""
    config = need("inspect_ai.model", "inspect-ai").GenerateConfig
    evaluate = inspect.signature(need("inspect_ai", "inspect-ai").eval).parameters
    unknown = [name for name in options if name not in config.model_fields | dict(evaluate)]
    if unknown:
        raise AnnotationError(
            f"unknown option {', '.join(unknown)}; give options of inspect_ai.eval or fields of "
            "its GenerateConfig, such as temperature or max_connections"
        )
    chosen = {name: value for name, value in options.items() if name in config.model_fields}
    merged = model.config.merge(config(**chosen)).model_dump(mode="json", exclude_none=True)
    return {name: value for name, value in merged.items() if name not in _DELIVERY}


def _identifier(item: str, *dependencies: object) -> str:
    """Name the sample of an item, with a hash of everything on which its answer depends."""
    text = json.dumps(dependencies, sort_keys=True)
    return f"{item} {hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}"


def _logged_samples(folder: str, names: Iterable[str]) -> dict[str, list["EvalSample"]]:
    """Read the samples about these items from the logs of a folder, oldest first."""
    logs = need("inspect_ai.log", "inspect-ai")
    samples: dict[str, list[EvalSample]] = defaultdict(list)
    for info in logs.list_eval_logs(folder, descending=False):
        try:
            for sample in logs.read_eval_log_samples(
                info, all_samples_required=False, exclude_fields={"events", "store", "attachments"}
            ):
                if sample.id in names:
                    samples[str(sample.id)].append(sample)
        except Exception as error:  # of several libraries: zipfile, json, pydantic
            raise AnnotationError(
                f"{info.name} cannot be read as a log of Inspect; move it out of log_dir"
            ) from error
    return samples


def _task(
    name: str, scheme: Scheme, texts: Mapping[str, str], attempts: int, interrupted: Event
) -> "Task":
    """Make the task of Inspect that asks about these items."""
    from inspect_ai import Task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser

    instruction = scheme.question["system"]
    system = [ChatMessageSystem(content=instruction)] if instruction else []
    samples = [
        Sample(
            id=identifier,
            input=[*system, ChatMessageUser(content=scheme.prompt(text))],
            metadata={"text": text},
        )
        for identifier, text in texts.items()
    ]
    return Task(
        MemoryDataset(samples, name=name), solver=_ask(scheme, attempts, interrupted), name=name
    )


def _ask(scheme: Scheme, attempts: int, interrupted: Event) -> "Solver":
    """Make the solver that sends an answer that cannot be used back with the reason."""
    from inspect_ai.model import ChatMessageUser
    from inspect_ai.solver import Generate, TaskState, solver

    @solver(name="annotate")
    def ask() -> "Solver":
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            for attempt in range(1, attempts + 1):
                if interrupted.is_set():
                    raise AnnotationError("the run was interrupted")
                state.metadata["attempts"] = attempt
                state.metadata.pop("reason", None)
                state = await generate(state)
                answer = state.output.completion
                try:
                    state.metadata["annotation"] = dict(scheme.read(state.metadata["text"], answer))
                    return state
                except AnnotationError as error:
                    state.metadata["reason"] = f"{error}{_providers_reason(state)}"
                    if answer.strip():
                        state.messages.append(ChatMessageUser(content=scheme.again(str(error))))
                    else:
                        state.messages.pop()  # providers refuse empty messages
            raise AnnotationError(state.metadata["reason"])

        return solve

    return ask()


def _providers_reason(state: Any) -> str:
    """Write what the provider reports about an answer that cannot be used."""
    if state.output.error:
        return f"; the model reports: {state.output.error[:300]}"
    if state.output.empty or state.output.stop_reason == "stop":
        return ""
    return f"; the provider ended it: {state.output.stop_reason}"


def _reply(samples: Sequence["EvalSample"]) -> dict[str, Any]:
    """Read the annotation of an item, or why there is none, from its samples, oldest first."""
    last = next((sample for sample in samples if sample.error is None), samples[-1])
    usage = [counts for sample in samples for counts in sample.model_usage.values()]
    reason = ""
    if last.error is not None:
        error = " ".join(last.error.message.split())
        shown = error if len(error) <= 300 else f"{error[:300]}..."
        reason = str(last.metadata.get("reason", f"the model failed: {shown}"))
    return {
        "annotation": None if reason else last.metadata["annotation"],
        "reason": reason,
        "answer": last.output.completion,
        "attempts": sum(sample.metadata.get("attempts", 0) for sample in samples),
        "input_tokens": sum(getattr(counts, name) or 0 for counts in usage for name in _INPUT),
        "output_tokens": sum(counts.output_tokens for counts in usage),
        "seconds": round(sum((sample.working_time or 0 for sample in samples), 0.0), 3),
    }
