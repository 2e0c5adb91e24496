"""Annotate items with the bands of a propensity, by asking a language model."""

import math
import numbers
from collections.abc import Hashable, Mapping
from contextlib import AsyncExitStack, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .annotations import Annotations, collect
from .asking import ask
from .errors import AnnotationError, need
from .prompt import fingerprint
from .reply import Reply, text_digest
from .rubric import Rubric
from .store import Store

if TYPE_CHECKING:
    from inspect_ai.model import GenerateConfig, Model

_OPERATION = {  # how requests are sent; what is answered does not depend on it
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


def annotate(
    items: "Mapping[Any, str] | pd.Series",
    rubric: Rubric,
    model: "str | Model",
    *,
    attempts: int = 3,
    connections: int = 10,
    store: str | Path | None = None,
    prices: tuple[float, float] | None = None,
    **settings: Any,
) -> Annotations:
    r"""Annotate each item with the band of levels at which an agent still answers rightly.

    The call waits until all items are done, in a notebook too (where inspect-ai needs ipywidgets).
    Interrupted, it leaves in `store` what is done; called again with it, it asks only about the
    rest, about items that failed, and about items whose text has changed.

    Parameters
    ----------
    items : mapping or Series
        From each item's name to its text, as subjects see it, with the options.
    rubric : Rubric
        The propensity, see `load_rubric`.
    model : str or inspect_ai.model.Model
        Whom to ask: a name such as ``"openai/gpt-4.1"``, of any provider that inspect-ai knows, or
        a model of its `get_model`. A name opens connections of its own and closes them. A model
        stays open; one that has connections to a network serves one call.
    attempts : int, default 3
        How often to ask about an item whose answers cannot be used; each time the model is told
        what is wrong.
    connections : int, default 10
        Items asked about at a time, at most; inspect-ai asks fewer while a provider limits the
        rate.
    store : str or Path, optional
        A file of JSON lines, written item by item. It is refused when it belongs to another rubric,
        prompt or model, or to other settings.
    prices : (float, float), optional
        Money per million tokens in and out. Tokens in a provider's cache are priced as input.
    **settings
        Fields of inspect-ai's `GenerateConfig`, such as ``temperature=0``, ``max_tokens=4000`` or
        ``max_retries=5`` (by default inspect-ai tries for ever where a provider limits the rate).

    Returns
    -------
    Annotations
        Bands, what failed and why, tokens used. A model's error on one item does not stop the
        others.

    Raises
    ------
    AnnotationError
        When inspect-ai is not installed, an item has no text, an option is out of range, or the
        store cannot be used.

    References
    ----------
    Propensities paper, section 4.1 and Appendix E.

    Examples
    --------
    A model that gives prepared answers, the first of which cannot be used:

    >>> from inspect_ai.model import ModelOutput, ModelUsage, get_model
    >>> from measurement_layouts.annotation import load_rubric
    >>> texts = "Interval: none", "-2: LEAVES, for ...\nInterval: [-1, 3]"
    >>> answers = [ModelOutput.from_content("mock", text) for text in texts]
    >>> for answer in answers:
    ...     answer.usage = ModelUsage(input_tokens=1500, output_tokens=400)
    >>> model = get_model("mockllm/model", custom_outputs=answers)
    >>> items = {"grant": "A: 500 for certain. B: 400 for certain. C: 515 in three of four cases."}
    >>> said = annotate(items, load_rubric("risk_aversion"), model, prices=(2, 8))
    >>> said.bands
           low  high
    item
    grant   -1     3
    >>> said.usage
           attempts  input_tokens  output_tokens    cost
    item
    grant         2          3000            800  0.0124
    """
    texts = _texts(items)
    if not isinstance(rubric, Rubric):
        raise AnnotationError(f"rubric={rubric!r}; give a Rubric, such as load_rubric({rubric!r})")
    attempts, connections = _whole("attempts", attempts), _whole("connections", connections)
    if prices is not None:
        prices = _prices(prices)
    from_anyio = need("anyio.from_thread", "inspect-ai")
    get_model = need("inspect_ai.model", "inspect-ai").get_model
    config = _config(settings)
    annotator = get_model(model, memoize=False)
    said = annotator.config.merge(config).model_dump(mode="json", exclude_none=True)
    about = {
        "rubric": rubric.name,
        "prompt": fingerprint(rubric),
        "model": str(annotator),
        "settings": {name: value for name, value in said.items() if name not in _OPERATION},
    }
    with nullcontext() if store is None else Store(store, about) as kept:
        work = _Work(annotator, config, rubric, attempts, kept)
        # a loop of its own, in a thread: one may be running here, as in notebooks
        with from_anyio.start_blocking_portal() as portal:
            portal.call(partial(work.all, texts, connections, close=isinstance(model, str)))
    return collect(rubric.name, str(annotator), [work.done[item] for item in texts], prices)


@dataclass
class _Work:
    """What is asked of whom, and what has come of it."""

    model: "Model"
    config: "GenerateConfig"
    rubric: Rubric
    attempts: int
    store: Store | None

    def __post_init__(self) -> None:
        self.done: dict[str, Reply] = {}

    async def all(self, texts: Mapping[str, str], connections: int, *, close: bool) -> None:
        """Ask about all items that the store does not know, some at a time."""
        import anyio

        waiting = iter([item for item in texts if not self._known(item, texts[item])])

        async def take() -> None:
            for item in waiting:
                await self._one(item, texts[item])

        async with AsyncExitStack() as stack:
            if close:
                await stack.enter_async_context(self.model)
            try:
                async with anyio.create_task_group() as group:
                    for _ in range(min(connections, len(texts))):
                        group.start_soon(take)
            except ExceptionGroup as errors:
                raise errors.exceptions[0] from None

    def _known(self, item: str, text: str) -> bool:
        before = self._before(item, text)
        if before is not None and before.good:
            self.done[item] = before
        return item in self.done

    def _before(self, item: str, text: str) -> Reply | None:
        return None if self.store is None else self.store.known.get((item, text_digest(text)))

    async def _one(self, item: str, text: str) -> None:
        reply = await ask(self.model, self.config, self.rubric, item, text, self.attempts)
        before = self._before(item, text)
        if before is not None:
            counts = ("attempts", "input_tokens", "output_tokens")
            sums = {name: getattr(before, name) + getattr(reply, name) for name in counts}
            reply = replace(reply, **sums)
        if self.store is not None:
            self.store.add(reply)
        self.done[item] = reply


def _config(settings: Mapping[str, Any]) -> "GenerateConfig":
    config: type[GenerateConfig] = need("inspect_ai.model", "inspect-ai").GenerateConfig
    unknown = [name for name in settings if name not in config.model_fields]
    if unknown:
        raise AnnotationError(
            f"unknown setting {', '.join(unknown)}; give fields of inspect-ai's GenerateConfig, "
            "such as temperature or max_tokens"
        )
    return config(**settings)


def _texts(items: "Mapping[Any, str] | pd.Series") -> dict[str, str]:
    """Read items: names as texts, each once, each with a text."""
    if not isinstance(items, Mapping | pd.Series):
        raise AnnotationError(
            f"items: this is a {type(items).__name__}; give a mapping or a Series from each item's "
            "name to its text"
        )
    found: dict[str, str] = {}
    pairs: list[tuple[Hashable, Any]] = list(items.items())
    for name, text in pairs:
        if str(name) in found:
            raise AnnotationError(f"the item {str(name)!r} occurs more than once; give it once")
        if not isinstance(text, str) or not text.strip():
            raise AnnotationError(f"the item {str(name)!r} has no text; give one, or drop it")
        found[str(name)] = text
    if not found:
        raise AnnotationError("no items; give at least one")
    return found


def _whole(name: str, value: object) -> int:
    number = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not number or int(value) < 1:  # type: ignore[call-overload]
        raise AnnotationError(f"{name}={value!r}; give a whole number of at least 1")
    return int(value)  # type: ignore[call-overload,no-any-return]


def _prices(prices: object) -> tuple[float, float]:
    pair = list(prices) if isinstance(prices, tuple | list) else []
    if len(pair) != 2 or not all(
        isinstance(price, numbers.Real) and 0 <= float(price) < math.inf for price in pair
    ):
        raise AnnotationError(
            f"prices={prices!r}; give two amounts per million tokens, in and out, such as (2, 8)"
        )
    return float(pair[0]), float(pair[1])
