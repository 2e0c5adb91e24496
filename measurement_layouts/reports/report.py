"""The report of a fit on one page."""

from collections.abc import Iterable
from os import PathLike
from pathlib import Path

import pandas as pd

from ..common.errors import FitError
from ..common.files import write_text
from ..common.given import refuse_other
from ..evaluations.evaluation import Evaluation
from ..inference.explanations.explanation import Explanation
from ..inference.fit import Fit
from ..inference.forecasts.forecasting import Forecast
from ..inference.given import refuse_no_fit
from ..validation.criticism.criticise import Criticism
from .contents import Contents
from .html import as_html
from .markdown import as_markdown

_WRITERS = {".html": as_html, ".htm": as_html, ".md": as_markdown}


def report(
    fit: Fit,
    path: str | Path,
    *,
    evaluation: Evaluation | None = None,
    forecast: Forecast | None = None,
    bank: pd.DataFrame | None = None,
    explain: Iterable[Explanation] = (),
    criticism: Criticism | None = None,
    detailed: Iterable[object] | None = None,
    title: str | None = None,
    overwrite: bool = False,
) -> Path:
    """Write the results of a fit as one page.

    The page is a list of sections: findings, who is ahead, all profiles, what subjects share, what
    the layout may miss, forecasts, the subjects one by one, outcomes and what was not graded,
    sampling, the layout, and how to read it. The HTML page is a single file that loads no other
    files; its tables sort and filter, and it prints with all subjects. The Markdown page has the
    same sections without figures. The same fit always gives the same file.

    At most 30 subjects have a section of their own, unless they are named; all are in the tables.

    Parameters
    ----------
    fit : Fit
        The fit, with its items and outcomes.
    path : str or Path
        File to write, ending in ``.html`` or ``.md``; its folder must exist.
    evaluation : Evaluation, optional
        The evaluation that was fitted, with all properties of its items, from which a criticism is
        made. Outcomes that were not fitted are compared with the forecast.
    forecast : Forecast, optional
        Forecast of new items by this fit, or by another that was not fitted to them.
    bank : DataFrame, optional
        Candidate items for further tests, with the columns that the layout needs. For each subject,
        the ten that would narrow its profile most are listed; see `batteries.next_items`.
    explain : iterable of Explanation, optional
        Explanations of forecasts, as returned by `Fit.explain`, for the sections of their subjects.
    criticism : Criticism, optional
        Criticism of this fit, instead of one made from the evaluation.
    detailed : iterable, optional
        Subjects with a section of their own: description, profile, figures, criticism and forecasts
        (default: all; if there are more than 30, that many, evenly spaced from the most successful
        to the least).
    title : str, optional
        Heading of the page.
    overwrite : bool
        Whether an existing file may be replaced.

    Returns
    -------
    Path
        Path of the file.

    Raises
    ------
    DataError
        When the evaluation, the forecast, the criticism or an explanation belongs to another fit,
        or a subject is named twice.
    FitError
        When `fit` or `path` is something else, a subject of `detailed` is not in the fit, the file
        name has another ending, or the file exists and may not be replaced, or cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report(result, Path(folder) / "profiles.html").name
    'profiles.html'
    """
    refuse_no_fit(fit)
    remedy = "name a file, such as 'report.html'"
    refuse_other("path", path, str | PathLike, "a path", remedy, FitError)
    file = Path(path)
    writer = _WRITERS.get(file.suffix.lower())
    if writer is None:
        raise FitError(
            f"cannot write a report into {str(file)!r}, whose ending is {file.suffix!r}; end it "
            "in .html or .md, or write tables into a folder by export_tables(fit, folder)"
        )
    if file.exists() and not overwrite:
        raise FitError(f"{file} exists already; choose another name, or pass overwrite=True")
    if not file.parent.is_dir():
        raise FitError(f"there is no folder {file.parent}; create it, or name another place")
    results = evaluation, forecast, criticism, title, detailed, bank, explain
    return write_text(file, writer(Contents(fit, *results)))
