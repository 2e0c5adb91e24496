"""Runs of annotation: many items, several at a time, each stored as soon as it is done."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..common.errors import AnnotationError
from ..common.optional import need
from .inputs import whole
from .scheme import Reply, Scheme, spent, text_digest
from .store import Store

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput, ModelUsage

type ModelOrName = str | Model


_OPERATION = {  # settings of how requests are sent, on which answers do not depend
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


@dataclass(frozen=True)
class Batch:
    """Items that are annotated by one scheme.

    Parameters
    ----------
    scheme : Scheme
        The question, and how answers to it are read.
    texts : mapping of str to str
        Text of each item, by its name.
    store : str or Path or None
        File in which the replies are stored.
    """

    scheme: Scheme
    texts: Mapping[str, str]
    store: str | Path | None


def run(
    batches: Sequence[Batch],
    model: ModelOrName,
    attempts: int,
    connections: int,
    settings: Mapping[str, Any],
) -> tuple[str, list[list[Reply]]]:
    """Ask a model about all items without an annotation in their stores.

    Parameters
    ----------
    batches : sequence of Batch
        Items, with their schemes and stores.
    model : str or inspect_ai.model.Model
        The annotator.
    attempts, connections : int
        Largest number of attempts for an item, and of items that are asked about at a time.
    settings : mapping of str to anything
        Fields of inspect-ai's `GenerateConfig`.

    Returns
    -------
    annotator : str
        Name of the model.
    replies : list of list of Reply
        Replies of each batch, one for each item.

    Raises
    ------
    AnnotationError
        When inspect-ai is not installed, an option is out of range, or a store cannot be used.
    """
    attempts, connections = whole("attempts", attempts), whole("connections", connections)
    from_anyio = need("anyio.from_thread", "inspect-ai")
    get_model = need("inspect_ai.model", "inspect-ai").get_model
    config = _config(settings)
    annotator = get_model(model, memoize=False)
    said = annotator.config.merge(config).model_dump(mode="json", exclude_none=True)
    lasting = {name: value for name, value in said.items() if name not in _OPERATION}
    with ExitStack() as stores:
        jobs = []
        for batch in batches:
            about = {
                "rubric": batch.scheme.name,
                "prompt": batch.scheme.fingerprint,
                "model": str(annotator),
                "settings": lasting,
            }
            kept = None if batch.store is None else stores.enter_context(Store(batch.store, about))
            jobs.append(
                [_Job(batch.scheme, kept, item, text) for item, text in batch.texts.items()]
            )
        # a separate event loop in a thread, because one may be running here, as in notebooks
        with from_anyio.start_blocking_portal() as portal:
            everything = [job for batch in jobs for job in batch]
            close = isinstance(model, str)
            portal.call(_ask_all, annotator, config, attempts, everything, connections, close)
    return str(annotator), [[job.reply for job in batch] for batch in jobs]


class _Job:
    """One item to ask about, and its reply so far."""

    def __init__(self, scheme: Scheme, store: Store | None, item: str, text: str) -> None:
        self.scheme, self.store, self.item, self.text = scheme, store, item, text
        digest = text_digest(text)
        before = None if store is None else store.known.get((item, digest))
        self.reply = before or Reply(item, digest, reason="not asked yet")

    def take(self, reply: Reply) -> None:
        """Store a reply, to whose usage that of earlier replies is added."""
        self.reply = replace(reply, **spent([self.reply, reply]))
        if self.store is not None:
            self.store.add(self.reply)


async def _ask_all(
    model: "Model",
    config: "GenerateConfig",
    attempts: int,
    jobs: Sequence[_Job],
    connections: int,
    close: bool,
) -> None:
    """Ask about all items without an annotation, several at a time."""
    import anyio

    waiting = iter([job for job in jobs if not job.reply.good])

    async def take() -> None:
        for job in waiting:
            job.take(await ask(model, config, job.scheme, job.item, job.text, attempts))

    async with AsyncExitStack() as stack:
        if close:
            await stack.enter_async_context(model)
        try:
            async with anyio.create_task_group() as group:
                for _ in range(min(connections, len(jobs))):
                    group.start_soon(take)
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None


def _config(settings: Mapping[str, Any]) -> "GenerateConfig":
    config: type[GenerateConfig] = need("inspect_ai.model", "inspect-ai").GenerateConfig
    unknown = [name for name in settings if name not in config.model_fields]
    if unknown:
        raise AnnotationError(
            f"unknown setting {', '.join(unknown)}; give fields of inspect-ai's GenerateConfig, "
            "such as temperature or max_tokens"
        )
    return config(**settings)


_LONGEST = 300  # largest number of characters of an error in a message

_CUT = {
    "max_tokens": "; it ended at the limit of output tokens (max_tokens)",
    "model_length": "; it ended at the limit of the model's context",
    "content_filter": "; it was stopped by the provider's content filter",
}


async def ask(
    model: "Model", config: "GenerateConfig", scheme: Scheme, item: str, text: str, attempts: int
) -> Reply:
    """Ask about one item.

    An answer that cannot be used is sent back with the reason. An error of the model ends the item
    but not the run; inspect-ai has then already retried where that is useful.

    Parameters
    ----------
    model : inspect_ai.model.Model
        The annotator.
    config : inspect_ai.model.GenerateConfig
        Settings of generation.
    scheme : Scheme
        The question, and how answers to it are read.
    item, text : str
        Name and text of the item.
    attempts : int
        Largest number of attempts.

    Returns
    -------
    Reply
        The annotation, or the reason why there is none.
    """
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser

    messages: list[ChatMessage] = [ChatMessageUser(content=scheme.prompt(text))]
    if scheme.system:
        messages.insert(0, ChatMessageSystem(content=scheme.system))
    reply = Reply(item, text_digest(text))
    for asked in range(1, attempts + 1):
        reply = replace(reply, attempts=asked)
        begun = monotonic()
        try:
            output = await model.generate(messages, config=config)
        except Exception as error:  # providers raise errors of any kind
            return replace(_timed(reply, begun), reason=_told(error))
        reply = _timed(reply, begun)
        reply = _count(replace(reply, answer=output.completion), output.usage)
        try:
            return replace(reply, said=scheme.read(text, reply.answer), reason="")
        except AnnotationError as error:
            reply = replace(reply, reason=f"{error}{_why(output)}")
            if reply.answer.strip():  # providers refuse empty messages
                messages += [output.message, ChatMessageUser(content=scheme.again(str(error)))]
    return reply


def _timed(reply: Reply, begun: float) -> Reply:
    """Add the seconds since an attempt began."""
    return replace(reply, seconds=round(reply.seconds + monotonic() - begun, 3))


def _count(reply: Reply, usage: "ModelUsage | None") -> Reply:
    """Add an answer's tokens; tokens read from or written to a provider's cache count as input."""
    if usage is None:
        return reply
    kept = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    return replace(
        reply,
        input_tokens=reply.input_tokens + usage.input_tokens + kept,
        output_tokens=reply.output_tokens + usage.output_tokens,
    )


def _why(output: "ModelOutput") -> str:
    if output.error:
        return f"; the model reports: {output.error[:_LONGEST]}"
    return "" if output.empty else _CUT.get(output.stop_reason, "")


def _told(error: Exception) -> str:
    """Write the beginning of an error, whose text may include whole requests."""
    text = " ".join(str(error).split())
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    return f"the model failed: {type(error).__name__}: {text}"
