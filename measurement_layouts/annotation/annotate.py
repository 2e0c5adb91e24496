"""Annotation of items by a language model according to a rubric."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from .annotations import Annotations, collect
from .inputs import read_texts
from .prompt import scheme_of
from .rubric import DemandRubric, Rubric
from .running import ModelOrName, run
from .scheme import Scheme


def annotate(
    items: "Mapping[Any, str] | pd.Series",
    rubric: Rubric | DemandRubric,
    model: ModelOrName,
    *,
    attempts: int = 3,
    log_dir: str | Path | None = None,
    **options: Any,
) -> Annotations:
    r"""Annotate each item with the band of a propensity, or with the level of a demand.

    With a `Rubric`, the model is asked for the band of levels at which an agent still answers
    rightly; with a `DemandRubric`, for the level of the demand that the item makes.

    The questions are a task of `inspect_ai.eval`, in a notebook too (where inspect-ai needs
    ipywidgets), which asks about several items at a time, retries and keeps logs. If the call is
    interrupted, finished items remain in the logs. A second call with the same `log_dir` asks
    only about the other items, about items that failed, and about items whose text, rubric, model
    or settings of generation have changed. ``inspect view --log-dir`` shows all answers.

    Parameters
    ----------
    items : mapping or Series
        Text of each item, by its name, as subjects see it, with the options.
    rubric : Rubric or DemandRubric
        The propensity (see `load_rubric`) or the demand (see `load_demand_rubric`).
    model : str or inspect_ai.model.Model
        The annotator: a name such as ``"openai/gpt-4.1"``, of any provider that inspect-ai
        supports, or a model that its `get_model` returns.
    attempts : int, default 3
        Largest number of times that the model is asked about an item while its answers cannot be
        used. Each time it is told what is wrong.
    log_dir : str or Path, optional
        Folder of Inspect's logs (default: the logs are not kept). Several calls may share one.
    **options
        Options of `inspect_ai.eval`, such as ``max_samples=4``, and fields of inspect-ai's
        `GenerateConfig`, such as ``temperature=0``, ``max_tokens=4000`` or ``max_connections=20``
        (the largest number of requests at a time, by default 10).

    Returns
    -------
    Annotations
        Bands or levels, failed items with reasons, and tokens used. A model's error on one item
        does not stop the others.

    Raises
    ------
    AnnotationError
        When inspect-ai is not installed, `rubric` is neither a Rubric nor a DemandRubric, an item
        has no text, an option is unknown or out of range, or `log_dir` cannot be used.

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
    >>> said = annotate(items, load_rubric("risk_aversion"), model)
    >>> said.bands
           low  high
    item
    grant   -1     3
    >>> said.usage.drop(columns="seconds")
           attempts  input_tokens  output_tokens
    item
    grant         2          3000            800

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
    scheme = scheme_of(rubric)
    return annotated(scheme, items, model, attempts=attempts, log_dir=log_dir, **options)


def annotated(
    scheme: Scheme,
    items: "Mapping[Any, str] | pd.Series",
    model: ModelOrName,
    *,
    properties: pd.DataFrame | None = None,
    **options: Any,
) -> Annotations:
    """Annotate items by any scheme, with properties of items in the tables; see `annotate`."""
    annotator, (replies,) = run({scheme.name: (scheme, read_texts(items))}, model, **options)
    return collect(scheme, annotator, replies, properties)
