"""What the command prints for people: tables in the terminal."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.text import Text

from ..common.digits import (
    beside,
    chance,
    fixed,
    significant,
    with_error,
)
from ..common.messages import many, some, visible
from ..inference.posterior.diagnostics import remedies, verdicts
from ..inference.posterior.posterior import success_rates
from .saying import say
from .tables_that_fit import Fitting

if TYPE_CHECKING:
    from ..evaluations.evaluation import Evaluation
    from ..inference.fit import Fit
    from ..inference.forecasts.forecasting import Forecast
    from ..scenarios.figures import Figure
    from ..validation.comparing.result import Comparison

_DECIMALS = 3  # of a number in a study's tables
_NATS = 1  # decimals of an elpd: at most that; its Monte Carlo error is about ...
_PARAMETERS = 10  # ... 0.1 where p_loo is so large and effective draws are 2000
_CLEAR = 2  # standard errors by which a layout is ahead ...
_SMALL = 4  # ... and elpd; the error of a smaller difference is not reliable
_TOLD = 5  # most subjects, or warnings, that are listed below a table
_SHARE = 0.005  # Monte Carlo error of the probability to be the best
_ROWS = 50  # most rows of a table of subjects, or of forecasts, in a terminal
_MARKS = {
    "*": "* prior-dominated: the outcomes do not determine the value",
    "‡": "‡ separate modes, the mean may lie between them",
}


def print_figures(figures: "Sequence[Figure]") -> None:
    """Print published figures beside obtained ones, four digits of each, and how many hold."""
    columns = ("figure", "published", "obtained", "goal", "holds")
    table = Fitting(columns, long=("figure", "goal"))
    for figure in figures:
        published = "" if figure.published is None else f"{figure.published:.4g}"
        holds = "yes" if figure.holds else "NO"
        table.add(figure.name, published, f"{figure.obtained:.4g}", figure.goal, holds)
    _print(table, "figures", columns)
    short = [f"'{figure.name}'" for figure in figures if not figure.holds]
    met = f"figures that meet their goals: {len(figures) - len(short)} of {len(figures)}"
    say(f"{met}; the others: {some(short)}" if short else met)


def print_tables(tables: Mapping[str, pd.DataFrame]) -> None:
    """Print tables of numbers: three decimals, fewer beside an interval or a standard error."""
    for title, numbers in tables.items():
        columns = [" ".join(map(str, np.atleast_1d(name))) for name in numbers.columns]
        first = str(numbers.index.name or "")
        table = Fitting((first, *columns), long=(first,))
        for name, row in zip(numbers.index, numbers.to_numpy().tolist(), strict=True):
            places = _decimals(columns, row)
            cells = zip(row, places, strict=True)
            shown = [fixed(x, at) if isinstance(x, float) else str(x) for x, at in cells]
            table.add(str(name), *shown)
        _print(table, title, (first,), more="; --json prints all")


def _decimals(columns: Sequence[str], row: Sequence[Any]) -> list[int]:
    """Count the decimals of a row's numbers; a value stands before its interval or error."""
    found = [_DECIMALS] * len(row)
    intervals = _intervals(columns)
    for place in range(1, len(row)):
        if place in intervals:
            half = (row[place + 1] - row[place]) / 2
            found[place - 1 : place + 2] = [min(_DECIMALS, beside(half))] * 3
        elif columns[place] in ("se", "dse"):
            found[place - 1 : place + 1] = [min(_DECIMALS, beside(row[place]))] * 2
    return found


def _intervals(columns: Sequence[str]) -> list[int]:
    """Find where intervals begin among a table's columns."""
    return [at for at in range(1, len(columns)) if columns[at : at + 2] == ["low", "high"]]


def print_profiles(fit: "Fit", evaluation: "Evaluation") -> None:
    """Print every subject's profile, and the problems of its sampling."""
    profiles = fit.profiles()
    success = evaluation.success_rates()
    diagnosed = fit.diagnostics()
    status = verdicts(fit)["status"]
    labels = profiles["label"].map(lambda name: f"[{name}]" * bool(name))
    profiles = profiles.assign(element=profiles["node"] + labels)
    elements = list(profiles["element"].unique())
    table = Fitting(("subject", "success", *elements, "status"), long=("subject", "status"))
    found = {str(subject): rows for subject, rows in profiles.groupby("subject", sort=False)}
    names = [*found, *fit.failures]
    console = _console()
    most = _ROWS if console.is_terminal else len(names)
    for subject in names[:most]:
        if subject in found:
            shown = [_mean_and_sd(row) for row in found[subject].to_dict("records")]
            table.add(subject, f"{success[subject]:.2f}", *shown, status[subject])
        else:
            table.add(subject, f"{success[subject]:.2f}", *[""] * len(elements), "failed")
    left = table.fit(console.width, needed=("subject", "success", "status"))
    marks = {mark: what for mark, what in _MARKS.items() if table.shows(mark)}
    where = "; where and reasons: diagnostics.csv" * bool(marks)
    title = f"{fit.layout.name}: mean ± sd"
    console.print(table.table(title, "; ".join(marks.values()) + where))
    if left:
        say(f"{len(left)} of {len(elements)} elements do not fit here; profiles.csv has them all")
    if len(names) > most:
        say(f"the first {most} of {len(names)} subjects are shown; profiles.csv has them all")
    _conclude(diagnosed, status)


def _conclude(diagnosed: pd.DataFrame, status: pd.Series) -> None:
    """Print how many subjects are ok, and for the first others what is wrong and what to do."""
    counts = status.value_counts()
    others = [f", {count} {name}" for name, count in counts.items() if name != "ok"]
    fine = f"{counts.get('ok', 0)} of {many(len(status), 'subject')} ok"
    say(f"{fine}{''.join(others)}")
    for line in remedies(diagnosed, _TOLD, "diagnostics.csv"):
        say(line)


def print_forecast(forecast: "Forecast", rows: pd.DataFrame) -> None:
    """Print the first forecasts of a table."""
    interval = f"{forecast.prob:.0%} interval"
    columns = ("subject", "item", "mean", interval, "remark")
    table = Fitting(columns, long=("subject", "item", "remark"))
    for row in rows.head(_ROWS).to_dict("records"):
        mean, ends = _mean_and_ends(row)
        table.add(str(row["subject"]), str(row["item"]), mean, ends, row["remark"])
    _print(table, "forecasts", columns)
    if len(rows) > _ROWS:
        say(f"the first {_ROWS} of {len(rows)} forecasts are shown")


def _mean_and_ends(row: Mapping[Any, Any]) -> tuple[str, str]:
    """Write a mean, and the ends of its interval."""
    width = row["high"] - row["low"]
    mean, low, high = (significant(row[name], width) for name in ("mean", "low", "high"))
    return mean, f"{low} to {high}"


def _mean_and_sd(row: Mapping[Any, Any]) -> str:
    """Write a profile element; a star if prior-dominated, a double dagger at separate modes."""
    shown = f"{significant(row['mean'], row['high'] - row['low'])} ± {significant(row['sd'])}"
    return shown + "*" * bool(row["prior_dominated"]) + "‡" * bool(row["modes"])


def print_comparison(comparison: "Comparison") -> None:
    """Print the ranks of the subjects, and who is ahead of whom."""
    first = comparison.ranking[comparison.ranking["reading"] == comparison.readings[0]]
    table = Fitting(("subject", "mean", "ranks", "P(best)", "tied"), long=("subject",))
    for row in first.to_dict("records"):
        ranks = f"{row['rank_low']:.0f} to {row['rank_high']:.0f}"
        best = chance(row["best"], _SHARE)
        tied = "with the first" * bool(row["tied"])
        table.add(row["subject"], significant(row["mean"]), ranks, best, tied)
    what = f"{comparison.name}, {comparison.readings[0]}"
    _print(table, f"{what}: {comparison.prob:.0%} intervals of ranks", ("subject", "ranks", "tied"))
    for line in comparison.sentences:
        say(line)
    warnings = comparison.table["warning"]
    _list([f"warning: {text}" for text in warnings.unique() if text], "warnings")


def _print_whole(table: Fitting, title: str, needed: Collection[str], rows: pd.DataFrame) -> None:
    """Print the columns that fit, the names of the others, and warnings without a column."""
    if "warning" in _print(table, title, needed, untold={"warning"}):
        _list([f"warning: {text}" for text in rows["warning"].unique() if text], "warnings")


def _list(lines: Sequence[str], what: str) -> None:
    """Print the first of some lines, and how many more there are."""
    for line in lines[:_TOLD]:
        say(line)
    if len(lines) > _TOLD:
        say(f"and {len(lines) - _TOLD} more {what}")


def print_layouts(compared: pd.DataFrame) -> None:
    """Print how layouts compare, the best first."""
    columns = ("layout", "elpd ± se", "elpd_diff ± dse", "p_loo", "weight", "warning")
    table = Fitting(columns, long=("layout", "warning"))
    compared = compared.assign(warning=compared["diag_elpd"])
    for name, row in compared.iterrows():
        nats = _NATS if row["p"] < _PARAMETERS else 0
        table.add(
            str(name),
            with_error(row["elpd"], row["se"], nats),
            with_error(row["elpd_diff"], row["dse"], nats) if row["dse"] else "0",
            fixed(row["p"], nats),
            fixed(row["weight"], 1),
            str(row["warning"]),
        )
    _print_whole(table, "leave-one-out by cell", columns[:3], compared)
    _conclude_layouts(compared)


def _conclude_layouts(total: pd.DataFrame) -> None:
    """Print whether the best layout is ahead by more than two standard errors and 4."""
    best, *others = total.reset_index(names="layout").to_dict("records")
    for second in others[:1]:
        lead = with_error(-second["elpd_diff"], second["dse"], _NATS)
        clear = -second["elpd_diff"] > max(_CLEAR * second["dse"], _SMALL)
        named = f"{best['layout']} has the larger elpd, by {lead}, than {second['layout']}"
        least = f"{_CLEAR} standard errors and {_SMALL}"
        judged = "more" if clear else "nothing is decided, as that is not more"
        say(f"{named}: {judged} than {least}")


def print_forecast_scores(fit: "Fit", scores: pd.DataFrame) -> None:
    """Print each subject's scores."""
    columns = [str(name) for name in scores.columns.drop("outside_training")]  # the remark tells
    table = Fitting(("subject", *columns), long=("subject", "remark"))
    for subject, row in scores.iterrows():
        cells = [row[name] for name in columns]
        table.add(str(subject), *(fixed(x, 3) if isinstance(x, float) else str(x) for x in cells))
    title = f"{fit.layout.name}: lower is better, but for auroc"
    needed = ("subject", "trials", "success", "brier")
    if "remark" in _print(table, title, needed, more="; --json prints all", untold={"remark"}):
        remarks = scores["remark"][scores["remark"] != ""]
        _list([f"{subject}: {remark}" for subject, remark in remarks.items()], "remarks")
    _conclude_scores(fit, scores)


def _conclude_scores(fit: "Fit", scores: pd.DataFrame) -> None:
    """Say how good the forecasts are beside the subjects' own success rates in the fit."""
    told = f"mean Brier score: {fixed(scores['brier'].mean(), 3)}"
    if fit.layout.steps is None:
        trained = success_rates(fit)[scores.index].to_numpy()
        rate = scores["success"].to_numpy()
        # the mean of (outcome - trained)^2 over outcomes of 0 and 1
        aggregate = (rate * (1 - rate) + (rate - trained) ** 2).mean()
        told += "; where each subject's success rate in the fit is its forecast: "
        told += fixed(aggregate, 3)
    say(told)


def _print(
    table: Fitting,
    title: str,
    needed: Collection[str],
    *,
    more: str = "",
    untold: Collection[str] = (),
) -> list[str]:
    """Print the columns that fit, and the names of the others, which are returned."""
    console = _console()
    left = table.fit(console.width, needed=needed)
    console.print(table.table(title))
    if told := [name for name in left if name not in untold]:
        say(f"not shown at this width: {', '.join(told)}{more}")
    return left


class _Console(Console):
    def render_str(self, text: str, **options: Any) -> Text:
        """Show what would steer the terminal: names may come from anywhere."""
        return super().render_str(visible(text), **options)

    def on_broken_pipe(self) -> None:
        """Raise the error, for the command to exit with its status."""
        raise BrokenPipeError


def _console() -> Console:
    """Text as it stands: a name such as ``[as]`` is no markup."""
    console = _Console(markup=False, emoji=False, highlight=False)
    if not console.is_terminal:
        console.width = 160
    return console
