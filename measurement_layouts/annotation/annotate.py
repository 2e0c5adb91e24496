"""Annotation of items by a language model according to a rubric."""

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

    With a `Rubric`, the model is asked for the band of levels at which an agent still answers
    rightly; with a `DemandRubric`, for the level of the demand that the item makes.

    The call returns when all items are done, in a notebook too (where inspect-ai needs
    ipywidgets). If it is interrupted, finished items remain in `store`. A second call with the
    same store asks only about the other items, about items that failed, and about items whose text
    has changed.

    Parameters
    ----------
    items : mapping or Series
        Text of each item, by its name, as subjects see it, with the options.
    rubric : Rubric or DemandRubric
        The propensity (see `load_rubric`) or the demand (see `load_demand_rubric`).
    model : str or inspect_ai.model.Model
        The annotator: a name such as ``"openai/gpt-4.1"``, of any provider that inspect-ai
        supports, or a model that its `get_model` returns. If a name is given, the call opens and
        closes the connections. If a model is given, it stays open; a model with connections to a
        network can be used for one call only.
    attempts : int, default 3
        Largest number of times that the model is asked about an item while its answers cannot be
        used. Each time it is told what is wrong.
    connections : int, default 10
        Largest number of items that are asked about at a time; inspect-ai asks about fewer while a
        provider limits the rate.
    store : str or Path, optional
        A file of JSON lines, to which each item is written as soon as it is done. It is refused
        when it belongs to another rubric, prompt or model, or to other settings.
    prices : (float, float), optional
        Prices of a million input tokens and of a million output tokens. Tokens in a provider's
        cache are priced as input.
    **settings
        Fields of inspect-ai's `GenerateConfig`, such as ``temperature=0``, ``max_tokens=4000`` or
        ``max_retries=5`` (by default inspect-ai retries without limit while a provider limits the
        rate).

    Returns
    -------
    Annotations
        Bands or levels, failed items with reasons, and tokens used. A model's error on one item
        does not stop the others.

    Raises
    ------
    AnnotationError
        When inspect-ai is not installed, `rubric` is neither a Rubric nor a DemandRubric, an item
        has no text, an option is out of range, or the store cannot be used.

    References
    ----------
    Propensities paper, section 4.1 and Appendix E. General scales paper, section 5.2, where demands
    were annotated with ``temperature=0, max_tokens=1000``.

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
    """Annotate items according to any scheme.

    Parameters
    ----------
    scheme : Scheme
        The question, and how answers to it are read.
    items, model, attempts, connections, store, prices, **settings
        As in `annotate`.
    known : DataFrame, optional
        Columns to add to the table of annotations, indexed by item.

    Returns
    -------
    Annotations
        Annotations with the columns of the scheme and those of `known`.

    Raises
    ------
    AnnotationError
        As in `annotate`.
    """
    batch = Batch(scheme, read_texts(items), store)
    prices = read_prices(prices)
    annotator, (replies,) = run([batch], model, attempts, connections, settings)
    said = collect(scheme, annotator, replies, prices)
    return said if known is None else with_known(said, known)
