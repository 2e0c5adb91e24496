"""Annotate items by a rubric, by asking a language model."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from .annotations import Annotations, collect, with_known
from .inputs import read_prices, read_texts
from .prompt import scheme_of
from .rubric import DemandRubric, Rubric
from .running import Batch, ModelOrName, run
from .scheme import Scheme


def annotate(
    items: "Mapping[Any, str] | pd.Series",
    rubric: Rubric | DemandRubric,
    model: ModelOrName,
    *,
    attempts: int = 3,
    connections: int = 10,
    store: str | Path | None = None,
    prices: tuple[float, float] | None = None,
    **settings: Any,
) -> Annotations:
    r"""Annotate each item with the band of a propensity, or with the level of a demand.

    A `Rubric` asks for the band of levels at which an agent still answers rightly, a `DemandRubric`
    for how much of the demand the item makes.

    The call waits until all items are done, in a notebook too (where inspect-ai needs ipywidgets).
    Interrupted, it leaves in `store` what is done; called again with it, it asks only about the
    rest, about items that failed, and about items whose text has changed.

    Parameters
    ----------
    items : mapping or Series
        From each item's name to its text, as subjects see it, with the options.
    rubric : Rubric or DemandRubric
        The propensity, see `load_rubric`; or the demand, see `load_demand_rubric`.
    model : str or inspect_ai.model.Model
        The annotator: a name such as ``"openai/gpt-4.1"``, of any provider that inspect-ai
        supports, or a model of its `get_model`. Connections of a name are opened and closed by
        the call. A model stays open; one that has connections to a network serves one call.
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
        Bands or levels, what failed and why, tokens used. A model's error on one item does not stop
        the others.

    Raises
    ------
    AnnotationError
        When inspect-ai is not installed, the rubric is none, an item has no text, an option is out
        of range, or the store cannot be used.

    References
    ----------
    Propensities paper, section 4.1 and Appendix E. General scales paper, section 5.2: demands were
    annotated with ``temperature=0, max_tokens=1000``.

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
    >>> said.usage.drop(columns="seconds")
           attempts  input_tokens  output_tokens    cost
    item
    grant         2          3000            800  0.0124

    Levels of a demand:

    >>> from measurement_layouts.annotation import load_demand_rubric
    >>> answer = ModelOutput.from_content("mock", "One step with small numbers.\nLevel: 1")
    >>> answer.usage = ModelUsage(input_tokens=1200, output_tokens=200)
    >>> model = get_model("mockllm/model", custom_outputs=[answer])
    >>> rubric = load_demand_rubric("quantitative_reasoning")
    >>> annotate({"sum": "What is 3 + 4?"}, rubric, model).levels
          level
    item
    sum       1
    """
    return annotated(
        scheme_of(rubric),
        items,
        model,
        attempts=attempts,
        connections=connections,
        store=store,
        prices=prices,
        **settings,
    )


def annotated(
    scheme: Scheme,
    items: "Mapping[Any, str] | pd.Series",
    model: ModelOrName,
    *,
    known: pd.DataFrame | None = None,
    attempts: int = 3,
    connections: int = 10,
    store: str | Path | None = None,
    prices: tuple[float, float] | None = None,
    **settings: Any,
) -> Annotations:
    """Annotate items by a scheme, whichever.

    Parameters
    ----------
    scheme : Scheme
        What is asked, and how answers are read.
    items, model, attempts, connections, store, prices, **settings
        As in `annotate`.
    known : DataFrame, optional
        Indexed by item: what to put beside what is said.

    Returns
    -------
    Annotations
        With a column for each of the scheme's, and those known.

    Raises
    ------
    AnnotationError
        As in `annotate`.
    """
    batch = Batch(scheme, read_texts(items), store)
    prices = read_prices(prices)
    annotator, (replies,) = run([batch], model, attempts, connections, settings)
    said = collect(
        scheme.name, scheme.kind, scheme.columns, annotator, replies, prices, scheme.words
    )
    return said if known is None else with_known(said, known)
