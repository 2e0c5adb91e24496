"""Conditions of a study: models with system prompts, as users give them."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ...annotation.inciting import incitement
from ...annotation.rubric import RUBRICS, Rubric, load_rubric
from ...annotation.running import ModelOrName
from ...common.errors import AnnotationError

type Levels = Iterable[int | None] | Mapping[int | None, str]
type Models = ModelOrName | Iterable[str] | Mapping[str, ModelOrName]

ALL, JUDGE = "all", "judge"
"""Rows of tables in addition to subjects and models: the sum, and the judge."""


def condition_name(model: str, level: float | None) -> str:
    """Return the name of a subject, which is a model with one system prompt.

    Parameters
    ----------
    model : str
        Name of the model.
    level : float or None
        Level to which it was incited; None or NaN without a prompt.

    Examples
    --------
    >>> condition_name("o1", 2), condition_name("o1", 0), condition_name("o1", None)
    ('o1 +2', 'o1 0', 'o1 unprompted')
    """
    incited = "unprompted" if pd.isna(level) else f"{level:+.0f}" if level else "0"
    return f"{model} {incited}"


def read_levels(
    propensity: str | Path | Rubric, levels: Levels | None
) -> tuple[str, dict[int | None, str]]:
    """Read a propensity and the system prompt of each level; None is no prompt.

    Raises
    ------
    AnnotationError
        When there is no such propensity or level, or a prompt is not a text.
    """
    rubric = propensity if isinstance(propensity, Rubric) else load_rubric(propensity)
    if isinstance(levels, Mapping):
        for level, text in levels.items():
            number = level is None or isinstance(level, int | np.integer)
            if not number or not isinstance(text, str) or bool(text.strip()) == (level is None):
                raise AnnotationError(
                    f"levels: the prompt of {level!r} is {text!r}; give a text for each whole "
                    "number, and an empty one for None"
                )
        return rubric.name, {level: text.strip() for level, text in levels.items()}
    chosen = [*(one.level for one in rubric.levels), None] if levels is None else list(levels)
    if not chosen or len(set(chosen)) < len(chosen):
        raise AnnotationError(f"levels={chosen!r}; give each level once, and at least one")
    source = str(propensity) if propensity in RUBRICS else rubric
    return rubric.name, {
        level: "" if level is None else incitement(source, level) for level in chosen
    }


def read_models(models: Models) -> dict[str, ModelOrName]:
    """Read models, by name.

    Raises
    ------
    AnnotationError
        When there is no model, or two models have the same name.
    """
    if isinstance(models, str) or hasattr(models, "generate"):
        models = [models]  # type: ignore[list-item]
    pairs: list[Any] = [(model, model) for model in models]
    if isinstance(models, Mapping):
        pairs = list(models.items())
    named = {str(name): model for name, model in pairs}
    if not named or len(named) < len(pairs) or {ALL, JUDGE} & set(named):
        raise AnnotationError(
            f"models are called {', '.join(str(name) for name, _ in pairs) or 'nothing'}; give at "
            f"least one, with different names, other than {ALL!r} and {JUDGE!r}, in a mapping from "
            "names to models"
        )
    return named


def conditions_of(models: Iterable[str], prompts: Mapping[int | None, str]) -> pd.DataFrame:
    """List the conditions: every model with every prompt."""
    rows = [
        (condition_name(model, level), model, math.nan if level is None else float(level), prompt)
        for model in models
        for level, prompt in prompts.items()
    ]
    return pd.DataFrame(rows, columns=["subject", "model", "incited", "prompt"]).set_index(
        "subject"
    )
