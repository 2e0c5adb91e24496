"""What the command prints for people: tables in the terminal."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    import pandas as pd

    from .inference.data import Evaluation
    from .inference.results import Fit
    from .inference.validation import HoldOut
    from .scenarios.figures import Figure

_SCORES = ("brier", "calibration", "refinement", "auroc", "ece")


def print_figures(figures: "Sequence[Figure]") -> None:
    """Print published figures beside obtained ones, four digits of each."""
    table = Table("figure", "published", "obtained", "goal", "holds")
    for figure in figures:
        published = "" if figure.published is None else f"{figure.published:.4g}"
        holds = "yes" if figure.holds else "NO"
        table.add_row(figure.name, published, f"{figure.obtained:.4g}", figure.goal, holds)
    _console().print(table)


def print_tables(tables: "Mapping[str, pd.DataFrame]") -> None:
    """Print tables of numbers, three digits of each."""
    for title, numbers in tables.items():
        columns = [" ".join(map(str, np.atleast_1d(name))) for name in numbers.columns]
        table = Table(str(numbers.index.name or ""), *columns, title=title)
        for name, row in zip(numbers.index, numbers.to_numpy().tolist(), strict=True):
            table.add_row(str(name), *(f"{x:.3f}" if isinstance(x, float) else str(x) for x in row))
        _console().print(table)


def print_scores(scores: "HoldOut") -> None:
    """Print every method's scores on held-out items, means over all subjects."""
    means = {column: scores.summary(column) for column in _SCORES}
    table = Table("method", *_SCORES, title="held-out items: mean ± standard error over splits")
    for method in means["brier"].index:
        cells = [means[column].loc[method] for column in _SCORES]
        table.add_row(method, *(_with_error(cell["mean"], cell["se"]) for cell in cells))
    _console().print(table)


def print_profiles(fit: "Fit", evaluation: "Evaluation") -> None:
    """Print every subject's profile, and what is wrong with it."""
    profiles = fit.profiles()
    success = evaluation.success_rates()
    status = fit.diagnostics()["status"]
    labels = profiles["label"].map(lambda name: f"[{name}]" * bool(name))
    profiles = profiles.assign(element=profiles["node"] + labels)
    elements = list(profiles["element"].unique())
    table = Table(
        *("subject", "success", *elements, "status"),
        title=f"{fit.layout.name}: mean ± sd",
        caption="* the data say next to nothing, the prior speaks; reasons: diagnostics.csv",
    )
    for subject, rows in profiles.groupby("subject", sort=False):
        numbers = zip(rows["mean"], rows["sd"], rows["prior_dominated"], strict=True)
        shown = [f"{mean:.2f} ± {sd:.2f}{'*' * vague}" for mean, sd, vague in numbers]
        table.add_row(str(subject), f"{success[subject]:.2f}", *shown, status[subject])
    for subject, reason in fit.failures.items():
        empty = [""] * len(elements)
        table.add_row(subject, f"{success[subject]:.2f}", *empty, f"failed: {reason}")
    _console().print(table)


def _with_error(mean: float, error: float) -> str:
    """Write a mean; one split alone has no standard error."""
    return f"{mean:.4f}" if math.isnan(error) else f"{mean:.4f} ± {error:.4f}"


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to the command, which knows the exit status."""
        raise BrokenPipeError


def _console() -> Console:
    """Text as it stands: a name such as ``[as]`` is no markup."""
    console = _Console(markup=False, emoji=False, highlight=False)
    if not console.is_terminal:
        console.width = 160
    return console
