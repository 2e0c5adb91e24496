"""Asking a model about one item until its answer can be used."""

from dataclasses import replace
from typing import TYPE_CHECKING

from ..inference.errors import AnnotationError
from .reply import Reply, text_digest
from .scheme import Scheme

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput, ModelUsage

_LONGEST = 300  # characters of an error that are told

_CUT = {
    "max_tokens": "; it ended at the limit of output tokens (max_tokens)",
    "model_length": "; it ended where the model's context does",
    "content_filter": "; it was stopped by the provider's content filter",
}


async def ask(
    model: "Model", config: "GenerateConfig", scheme: Scheme, item: str, text: str, attempts: int
) -> Reply:
    """Ask about one item.

    An answer that cannot be used is sent back with what is wrong with it. An error of the model
    ends the item, not the run: inspect-ai has then already tried again what is worth it.

    Parameters
    ----------
    model : inspect_ai.model.Model
        Who is asked.
    config : inspect_ai.model.GenerateConfig
        Settings of generation.
    scheme : Scheme
        What is asked, and how answers are read.
    item, text : str
        Name of the item, and what it says.
    attempts : int
        How often to ask at most.

    Returns
    -------
    Reply
        With the annotation, or the reason why there is none.
    """
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser

    messages: list[ChatMessage] = [ChatMessageUser(content=scheme.prompt(text))]
    if scheme.system:
        messages.insert(0, ChatMessageSystem(content=scheme.system))
    reply = Reply(item, text_digest(text))
    for asked in range(1, attempts + 1):
        reply = replace(reply, attempts=asked)
        try:
            output = await model.generate(messages, config=config)
        except Exception as error:  # whatever a provider raises
            return replace(reply, reason=_told(error))
        reply = _count(replace(reply, answer=output.completion), output.usage)
        try:
            return replace(reply, said=scheme.read(text, reply.answer), reason="")
        except AnnotationError as error:
            reply = replace(reply, reason=f"{error}{_why(output)}")
            if reply.answer.strip():  # providers refuse empty messages
                messages += [output.message, ChatMessageUser(content=scheme.again(str(error)))]
    return reply


def _count(reply: Reply, usage: "ModelUsage | None") -> Reply:
    """Add an answer's tokens; those that a provider's cache keeps or kept count as input."""
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
        return f"; the model says: {output.error[:_LONGEST]}"
    return "" if output.empty else _CUT.get(output.stop_reason, "")


def _told(error: Exception) -> str:
    """Write the beginning of an error; whole requests may follow it."""
    text = " ".join(str(error).split())
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    return f"the model failed: {type(error).__name__}: {text}"
