"""A fit's tables as CSV files that are safe to open in a spreadsheet."""

import re
from pathlib import Path

import pandas as pd

from ..common.errors import FitError
from ..common.files import write_text
from ..common.messages import some
from ..evaluations.evaluation import Evaluation
from ..inference.fit import Fit
from ..inference.forecasts.forecasting import Forecast
from ..inference.forecasts.summarising import SUMMARY
from ..inference.given import refuse_no_fit
from ..inference.population.standing import populated, standing
from ..inference.population.tables import items, population
from ..validation.criticism.criticise import Criticism
from .contents import PROB, Contents
from .outcomes import value_counts
from .sections import item_features

_FORMULA = re.compile(r"(^|[;\t\r\n])(?=[=+\-@\t\r＝＋－＠])")  # a semicolon may separate cells


def export_tables(
    fit: Fit,
    folder: str | Path,
    *,
    evaluation: Evaluation | None = None,
    forecast: Forecast | None = None,
    criticism: Criticism | None = None,
    overwrite: bool = False,
) -> list[Path]:
    """Write a fit's tables as CSV files.

    Numbers are written in full. A text that a spreadsheet would read as a formula, because it
    starts with ``=``, ``+``, ``-``, ``@`` or a tab, gets an apostrophe before it, and so does such
    a character after a semicolon, a tab or a line break, at which some spreadsheets separate cells.

    Parameters
    ----------
    fit : Fit
        The fit.
    folder : str or Path
        Folder to write to. It is created if it does not exist; its parent must exist.
    evaluation : Evaluation, optional
        The evaluation that was fitted, with all properties of items and subjects (default: only
        those properties of items that the layout uses).
    forecast : Forecast, optional
        Forecast of new items.
    criticism : Criticism, optional
        Criticism of this fit (default: made from the evaluation, if one is given).
    overwrite : bool
        Whether existing files with these names may be replaced.

    Returns
    -------
    list of Path
        Paths of the files. There are always ``profiles.csv``, ``diagnostics.csv``,
        ``descriptions.csv``, ``items.csv`` and ``outcomes.csv`` (one row per subject and attempted
        item). If there is something to write, there are also ``subjects.csv`` (properties of the
        subjects, from the evaluation) and ``forecasts.csv``, and, with a criticism, its tables with
        rows: ``criticism.csv`` (properties of items), ``unexpected_cells.csv``, ``person_fit.csv``,
        ``item_fit.csv``, ``invariance.csv``, ``dependence.csv`` and ``overdispersion.csv``
        (repeated attempts). If subjects share something, there are ``population.csv``,
        ``item_effects.csv`` and ``standing.csv`` (profiles, forecasts of them from the population,
        and the population's weight in them). If there are several outcomes, or the outcome is a
        grade or a score, ``outcomes.csv`` has the count of each value of each outcome, and
        ``forecasts.csv`` has the expected outcomes; of a grade, this is its number, counted from 0.

    Raises
    ------
    DataError
        When the evaluation, the forecast or the criticism belongs to another fit.
    FitError
        When `fit` is something else, a file exists and may not be replaced, or the folder cannot be
        created or written to.

    Examples
    --------
    >>> import tempfile
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in export_tables(result, folder)]
    ['profiles.csv', 'diagnostics.csv', 'descriptions.csv', 'items.csv', 'outcomes.csv']
    """
    refuse_no_fit(fit)
    contents = Contents(fit, evaluation, forecast, criticism)
    target = Path(folder)
    texts = {f"{name}.csv": csv(table) for name, table in _tables(contents).items()}
    there = [name for name in texts if (target / name).exists()]
    if there and not overwrite:
        raise FitError(
            f"{target} already has {some(there)}; choose another folder, or pass overwrite=True"
        )
    try:
        target.mkdir(exist_ok=True)
    except OSError as error:
        raise FitError(
            f"cannot create the folder {target}: {error.strerror}; choose another folder"
        ) from error
    return [write_text(target / name, text) for name, text in texts.items()]


def csv(table: pd.DataFrame) -> str:
    r"""Write a table as CSV, with texts that no spreadsheet reads as formulas.

    Examples
    --------
    >>> csv(pd.DataFrame({"subject": ["=1+1", "Ann"], "mean": [-0.5, 2.0]}))
    "subject,mean\r\n'=1+1,-0.5\r\nAnn,2.0\r\n"
    """
    names = [_tame(name) for name in table.columns]
    tame = table.set_axis(names, axis=1).apply(lambda column: column.map(_tame))
    return str(tame.to_csv(index=False, lineterminator="\r\n"))


def _tables(contents: Contents) -> dict[str, pd.DataFrame]:
    fit = contents.fit
    tables = {
        "profiles": contents.profiles,
        "diagnostics": contents.diagnostics.reset_index(),
        "descriptions": contents.description.texts.rename_axis("subject").reset_index(),
        "items": _items(contents),
        "outcomes": _outcomes(fit),
    }
    if contents.evaluation is not None and len(contents.evaluation.subject_table.columns):
        people = contents.evaluation.subject_table.loc[list(fit.subjects)]
        tables["subjects"] = people.rename_axis("subject").reset_index()
    if fit.layout.joint:
        tables["population"] = population(fit, prob=PROB)
        tables["item_effects"] = items(fit, prob=PROB)
        if populated(fit.layout, levels=fit.levels):
            tables["standing"] = standing(fit, prob=PROB)
    if contents.forecast is not None:
        tables["forecasts"] = _forecasts(contents.forecast)
    if contents.criticism is not None:
        names = {
            "criticism": contents.criticism.table,
            "unexpected_cells": contents.criticism.cells,
            "person_fit": contents.criticism.subjects,
            "item_fit": contents.criticism.items,
            "invariance": contents.criticism.groups,
            "dependence": contents.criticism.pairs,
            "overdispersion": contents.criticism.overdispersion,
        }
        tables |= {name: table for name, table in names.items() if len(table)}
    return tables


def _items(contents: Contents) -> pd.DataFrame:
    if contents.evaluation is not None:
        return contents.evaluation.item_table.rename_axis("item").reset_index()
    return item_features(contents.fit).rename_axis("item").reset_index()


def _outcomes(fit: Fit) -> pd.DataFrame:
    names = pd.Index(fit.subjects, dtype="str"), fit.item_names
    if fit.layout.steps is None:
        return fit.coded.frame(*names)
    return value_counts(fit.layout, fit.coded, *names)


def _forecasts(forecast: Forecast) -> pd.DataFrame:
    if forecast.expected is None:
        return forecast.to_frame()
    flags = forecast.to_frame().drop(columns=["step", *SUMMARY])
    return forecast.expected.merge(flags.drop_duplicates(), on=["subject", "item", "outcome"])


def _tame(cell: object) -> object:
    return _FORMULA.sub(r"\1'", cell) if isinstance(cell, str) else cell
