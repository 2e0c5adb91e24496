"""A fit on one page, to read and to hand on."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from ..common.errors import FitError
from ..common.files import write_text
from ..evaluations.evaluation import Evaluation
from ..inference.explanations.explanation import Explanation
from ..inference.fit import Fit
from ..inference.forecasts.forecasting import Forecast
from ..validation.criticism.criticise import Criticism
from ..validation.criticism.population.criticism import PopulationCriticism
from .contents import Contents
from .markdown import as_markdown
from .page import as_html

_WRITERS = {".html": as_html, ".htm": as_html, ".md": as_markdown}


def report(
    fit: Fit,
    path: str | Path,
    *,
    evaluation: Evaluation | None = None,
    forecast: Forecast | None = None,
    bank: pd.DataFrame | None = None,
    explain: Iterable[Explanation] = (),
    criticism: Criticism | PopulationCriticism | None = None,
    detailed: Iterable[object] | None = None,
    title: str | None = None,
    overwrite: bool = False,
) -> Path:
    """Write all that a fit says as one page.

    The HTML page holds everything in one file and loads nothing: the layout with its equations, the
    items, a table of all profiles, and for each subject its profile, a diagnosis in words, curves
    of outcomes over each property, and how far the sampling is to be trusted. It prints with all
    subjects. Markdown is the same in short. The same fit always gives the same file.

    Of more than 300 subjects, all are in the table, which is searched, sorted and turned over page
    by page, and in the overview; 300 have a section of their own.

    Parameters
    ----------
    fit : Fit
        Profiles, with the items and outcomes that they are from.
    path : str or Path
        File to write, ending in ``.html`` or ``.md``; its folder must exist.
    evaluation : Evaluation, optional
        The one that was fitted, with all properties of its items: from these the layout is
        criticised. Outcomes that were not fitted are held against the forecast.
    forecast : Forecast, optional
        Of new items, by this fit or by one that did not see them.
    bank : DataFrame, optional
        Items that may be asked next, with the columns that the layout needs: for each subject the
        ten that would narrow its profile most are listed; see `batteries.next_items`.
    explain : iterable of Explanation, optional
        Forecasts to explain, as `Fit.explain` does, in the sections of their subjects.
    criticism : Criticism or PopulationCriticism, optional
        Of this fit, instead of one that is made of the evaluation.
    detailed : iterable, optional
        Subjects with a section of their own: diagnosis, figures, criticism and sampling. By default
        everybody; of more than 300, so many, evenly spaced from the most successful to the least.
    title : str, optional
        Heading of the page.
    overwrite : bool
        Whether an existing file may be replaced.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    DataError
        When the evaluation, the forecast, the criticism or an explanation is not the fit's, or a
        subject is named twice.
    FitError
        When a subject of `detailed` is not in the fit, the ending is another one, the file exists
        and may not be replaced, or cannot be written.

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
    place = Path(path)
    writer = _WRITERS.get(place.suffix.lower())
    if writer is None:
        raise FitError(
            f"cannot write a report into {str(place)!r}, whose ending is {place.suffix!r}; end it "
            "in .html or .md, or write tables into a folder by export_tables(fit, folder)"
        )
    if place.exists() and not overwrite:
        raise FitError(f"{place} exists already; choose another name, or pass overwrite=True")
    if not place.parent.is_dir():
        raise FitError(f"there is no folder {place.parent}; create it, or name another place")
    given = evaluation, forecast, criticism, title, detailed, bank, explain
    return write_text(place, writer(Contents.of(fit, *given)))
