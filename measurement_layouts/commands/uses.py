"""The commands ``forecast``, ``score``, ``compare`` and ``report``: uses of a fit."""

import sys
from json import dumps, loads
from pathlib import Path

from cyclopts import CycloptsError

from ..common.progress import waiting
from . import options
from .fitting import open_fit


def forecast(
    fit: options.Fit,
    /,
    *,
    items: Path,
    subjects: options.Subjects = None,
    subject_table: Path | None = None,
    out: Path | None = None,
    layouts: options.Layouts = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Forecast every subject's success on new items, as CSV (in a terminal, as a table).

    Parameters
    ----------
    items
        CSV, Parquet or JSON lines: a column `item` and one per property of the layout
    subject_table
        new subjects, if subjects share something: a column `subject` and one per property
    out
        CSV file to write (default: standard output)
    """
    from ..common.files import csv_text, write_text

    options.refuse_existing([out] if out else [], overwrite)
    if subjects and subject_table:
        raise CycloptsError(msg="give either --subjects or --subject-table")
    with waiting("forecasting the items", show=True):
        from .printing import print_forecast, say
        from .tables import read_properties

        new = read_properties(subject_table, "subject") if subject_table else subjects
        fitted = open_fit(fit, layouts)
        result = fitted.forecast(read_properties(items, "item"), subjects=new)
        table = result.to_frame()
    if out is not None:
        write_text(out, csv_text(table))
    elif sys.stdout is not None and sys.stdout.isatty():
        print_forecast(result, table)
    else:
        print(csv_text(table), end="")
    say(f"{repr(result).strip('<>')}; --out writes all of it as CSV", error=True)


def score(
    fit: options.Fit,
    /,
    *,
    data: options.Data,
    subjects: options.Subjects = None,
    training_items: bool = False,
    layouts: options.Layouts = None,
    json: bool = False,
) -> None:
    """Score forecasts against outcomes that the fit has not seen.

    Parameters
    ----------
    training_items
        also score the items of the fit; such scores are too good
    json
        print one JSON object
    """
    with waiting("scoring the forecasts", show=True):
        from ..validation.prediction.score import score_forecast
        from .printing import print_scores
        from .tables import read_evaluation

        fitted = open_fit(fit, layouts)
        evaluation = read_evaluation(fitted.layout, data)
        result = fitted.forecast(evaluation.item_table, subjects=subjects)
        scores = score_forecast(result, evaluation, training_items=training_items)
    if json:
        rows = loads(scores.reset_index().to_json(orient="records", double_precision=15))
        print(dumps({"layout": fitted.layout.name, "scores": rows}, allow_nan=False))
    else:
        print_scores(fitted, scores)


def compare(
    fits: list[Path] | None = None,
    /,
    *,
    data: options.FittedData = options.FITTED_DATA,
    subjects: options.Subjects = None,
    by: str = "success",
    cluster: str | None = None,
    layouts: options.Layouts = None,
) -> None:
    """Compare the subjects of a fit or of a table of outcomes, or the layouts of several fits.

    Parameters
    ----------
    fits
        folders that `fit` wrote, .nc files or stores: one, or several to compare their layouts
    by
        success, or an element of the profile or a node of the layout
    cluster
        column of the items whose equal values are one cluster, such as a text or a task
    """
    paths = fits or []
    if bool(paths) == bool(data.outcomes):
        raise CycloptsError(
            msg="give either a FIT, or --outcomes, which are compared without a fit"
        )
    if len(paths) > 1:
        if cluster is not None or by != "success":
            raise CycloptsError(
                msg="--by and --cluster are for subjects of a single fit; leave them out"
            )
        with waiting("comparing the layouts", show=True):
            from ..validation.leave_one_out.compare import compare_layouts
            from .printing import print_layouts

            opened = {str(path): open_fit(path, layouts) for path in paths}
            table = compare_layouts(opened, subjects=subjects)
        print_layouts(table)
        return
    with waiting("comparing the subjects", show=True):
        from ..validation.comparing.compare import compare as compare_subjects
        from .printing import print_comparison
        from .tables import read_outcomes, read_properties

        fitted, items = None, None
        for path in paths:
            fitted = open_fit(path, layouts)
            file = data.items or (path / options.ITEMS if cluster else None)
            items = read_properties(file, "item") if file else None
        source = fitted or read_outcomes(data)
        result = compare_subjects(source, items, by=by, cluster=cluster, subjects=subjects)
    print_comparison(result)


def report(
    fit: options.Fit,
    /,
    *,
    out: Path,
    data: options.FittedData = options.FITTED_DATA,
    forecast: Path | None = None,
    bank: Path | None = None,
    explain: options.Names = None,
    by: options.Names = None,
    testlets: str | None = None,
    title: str | None = None,
    layouts: options.Layouts = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Write a report of a fit: one page, for readers who did not run it.

    Parameters
    ----------
    out
        file to write, ending in .html (one page that works without a network) or .md
    forecast
        new items to forecast, as for `forecast`
    bank
        items that may be asked next, as for `forecast`
    explain
        items of the fit to explain
    by
        for joint fits: columns of the subjects; items are compared between the groups that they
        form (default: all with few levels)
    testlets
        for joint fits: column of the items whose equal values form a testlet (default: all pairs)
    title
        title of the page (default: the layout's name)
    """
    with waiting("writing the report", show=True):
        from ..reports.report import report as write_report
        from ..validation.criticism.criticise import criticise
        from .tables import fitted_evaluation, read_properties

        options.refuse_existing([out], overwrite)
        options.make_writable(out.parent)
        fitted = open_fit(fit, layouts)
        evaluation = criticism = None
        if data.outcomes or data.items or (fit / options.ITEMS).is_file() or by or testlets:
            evaluation = fitted_evaluation(fitted, fit, data)
        if evaluation is not None and (by or testlets):
            criticism = criticise(fitted, evaluation, by=by, testlets=testlets, progressbar=False)
        write_report(
            fitted,
            out,
            evaluation=evaluation,
            forecast=fitted.forecast(read_properties(forecast, "item")) if forecast else None,
            bank=read_properties(bank, "item") if bank else None,
            explain=[
                fitted.explain(item, who) for item in explain or () for who in fitted.subjects
            ],
            criticism=criticism,
            title=title,
            overwrite=overwrite,
        )
    print(out)
