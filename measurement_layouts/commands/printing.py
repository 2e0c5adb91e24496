"""What commands print: texts wrapped at words, and tables with as many whole columns as fit."""

import math
import re
import shlex
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from ..common.digits import chance, fixed, significant
from ..common.messages import many, some, visible

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from ..evaluations.evaluation import Evaluation
    from ..inference.fit import Fit
    from ..inference.forecasts.forecasting import Forecast
    from ..scenarios.figures import Figure
    from ..validation.comparing.result import Comparison

_CALL = re.compile(r"\bfit\(\.\.\., ([^()]*)\)")
_ADVISED = re.compile(
    r"\b(draws|tune|chains|overwrite|target_accept|training_items)\b"
    r"(?:=(True|[\d.]*\d))?|\b(subjects?)=(?:'([^']*)')?(?=[\s,;.)]|$)"
)
_WIDE = 160  # columns of a table in a file or a pipe
_LONG = 20  # least width of a cell with long text
_TEXTS = ("item", "goal", "remark", "status")  # columns of long text, as is the first
_EDGES = 3  # columns of the terminal between two cells
_ROWS = 50  # most rows of a table in a terminal
_TOLD = 5  # most subjects, or warnings, that are listed below a table
_DECIMALS = 3  # of a Brier score
_SHARE = 0.005  # Monte Carlo error of the probability to be the best
_MARKS = {
    "*": "* prior-dominated: the outcomes do not determine the value",
    "‡": "‡ separate modes, the mean may lie between them",
}


def say(text: object, *, error: bool = False) -> None:
    """Print a text, with advice for Python as `in_options` writes it.

    Control characters are shown as escape sequences. Lines are wrapped in a terminal, and not in
    files and pipes.

    Parameters
    ----------
    text : object
        Text, or an object that `str` converts to it.
    error : bool
        Print it to standard error.
    """
    stream = sys.stderr if error else sys.stdout
    lines = in_options(visible(text)).split("\n")
    if width := width_of(stream):
        options: Any = {"break_long_words": False, "break_on_hyphens": False}
        lines = [textwrap.fill(line, width, **options) for line in lines]
    if stream is not None:
        print(*lines, sep="\n", file=stream)


def width_of(stream: TextIO | None) -> int | None:
    """Find how many columns a terminal has; None if the stream is no terminal."""
    if stream is None or not stream.isatty():
        return None
    return max(_console(stream).width, _LONG)


def in_options(text: str) -> str:
    """Write the advice of a text, which is for Python, as options of commands.

    Parameters
    ----------
    text : str
        Text that may contain calls such as ``fit(..., draws=420)``, or parameters of them.

    Returns
    -------
    str
        The text with options such as ``--draws 420``.

    Examples
    --------
    >>> in_options("ask for 420 a chain: fit(..., tune=2000, draws=420)")
    'ask for 420 a chain: --tune 2000 --draws 420'
    >>> in_options("raise target_accept, as in fit(..., target_accept=0.95), or reparametrise")
    'raise --target-accept, as in --target-accept 0.95, or reparametrise'
    >>> in_options("pass training_items=True")
    'pass --training-items'
    >>> in_options("name one of them, as in subject='model 1'")
    "name one of them, as in --subject 'model 1'"
    """
    text = re.sub(r"functions=\[\w+\]", "--layout LAYOUT.py:name", text)
    return _ADVISED.sub(_option, _CALL.sub(lambda call: call[1].replace(", ", " "), text))


def _option(match: re.Match[str]) -> str:
    """Write a parameter of Python as an option; other words are not changed."""
    name, value, subjects, subject = match.groups()
    if subjects:
        return f"--{subjects}" + (f" {shlex.quote(subject)}" if subject else "")
    if value is None and "_" not in name:
        return match[0]
    return f"--{name.replace('_', '-')}" + f" {value}" * (value not in (None, "True"))


def print_table(
    table: "pd.DataFrame",
    title: str,
    *,
    needed: Iterable[Any] = (),
    more: str = "",
    caption: str = "",
) -> None:
    """Print the columns of a table that fit in the terminal, and name the others.

    Numbers have three significant digits.

    Parameters
    ----------
    table : DataFrame
        Numbers and texts; the first column names the rows.
    title, caption : str
        Text above and below.
    needed : iterable of str
        Columns that are shown in any case, as is the first; then come the others, in order, while
        they fit.
    more : str
        Where the columns and rows that are left out can be found.
    """
    import pandas as pd
    from rich.cells import cell_len
    from rich.table import Table

    console = _console()
    names = [" ".join(map(str, name)) if isinstance(name, tuple) else name for name in table]
    table = table.set_axis([visible(name) for name in names], axis=1)
    count = min(len(table), _ROWS) if console.is_terminal else len(table)
    texts = pd.DataFrame([_written(row) for row in table.head(count).to_dict("records")])
    long = (table.columns[0], *_TEXTS)
    widths = {}
    for name, cells in texts.items():
        widest = max(map(cell_len, [name, *cells]))
        most = max(_LONG, cell_len(name)) if name in long else widest
        widths[name] = _EDGES + min(widest, most)
    left_out = list(table.columns[1:].drop(list(needed), errors="ignore"))
    room = console.width - 1 - sum(widths[name] for name in table.columns.drop(left_out))
    while left_out and widths[left_out[0]] <= room:
        room -= widths[left_out.pop(0)]
    texts = texts.drop(columns=left_out)
    printed = Table(title=visible(title), caption=visible(caption) or None)
    for name in texts:
        printed.add_column(str(name), no_wrap=name not in long, overflow="fold")
    for row in texts.to_numpy():
        printed.add_row(*row)
    console.print(printed)
    if left_out:
        say(f"not shown at this width: {some(left_out, _ROWS)}{more}")
    if count < len(table):
        say(f"the first {count} of {len(table)} rows are shown{more}")


def _written(row: Mapping[Any, Any]) -> dict[str, str]:
    """Write the cells of a row; of a narrow interval, more digits."""
    width = row.get("high", math.inf) - row.get("low", 0)
    cells = {}
    for name, cell in row.items():
        if isinstance(cell, bool):
            cells[name] = "yes" if cell else "no"
        else:
            cells[name] = significant(cell, width) if isinstance(cell, float) else visible(cell)
    return cells


def print_figures(figures: "Sequence[Figure]") -> None:
    """Print published figures beside obtained ones, four digits of each, and how many hold."""
    import pandas as pd

    table = pd.DataFrame([figure.to_dict() for figure in figures])
    for column in ("published", "obtained"):
        table[column] = [f"{value:.4g}" for value in table[column].astype(float)]
    print_table(table.replace("nan", "–"), "figures", needed=table)
    short = [f"'{figure.name}'" for figure in figures if not figure.holds]
    reached = f"figures that meet their goals: {len(figures) - len(short)} of {len(figures)}"
    say(f"{reached}; the others: {some(short)}" if short else reached)


def print_profiles(fit: "Fit", evaluation: "Evaluation") -> None:
    """Print every subject's profile, and the problems of its sampling."""
    import numpy as np
    import pandas as pd

    from ..inference.posterior.diagnostics import remedies, verdicts

    cells = [_mean_and_sd(row) for row in fit.profiles().to_dict("records")]
    elements = [element.name for element in fit.elements]
    status = verdicts(fit)["status"]
    table = pd.DataFrame(np.reshape(cells, (-1, len(elements))), fit.subjects, elements)
    table = table.reindex(status.index, fill_value="")
    table.insert(0, "success", evaluation.success_rates()[status.index].map("{:.2f}".format))
    marks = [meaning for mark, meaning in _MARKS.items() if mark in "".join(cells)]
    print_table(
        table.assign(status=status).rename_axis("subject").reset_index(),
        f"{fit.layout.name}: mean ± sd",
        needed=("success", "status"),
        more="; profiles.csv has all",
        caption="; ".join(marks),
    )
    counts = [f", {count} {name}" for name, count in status.value_counts().items() if name != "ok"]
    say(f"{(status == 'ok').sum()} of {many(len(status), 'subject')} ok{''.join(counts)}")
    for line in remedies(fit.diagnostics(), _TOLD, "diagnostics.csv"):
        say(line)


def _mean_and_sd(row: Mapping[Any, Any]) -> str:
    """Write a profile element; a star if prior-dominated, a double dagger at separate modes."""
    shown = f"{significant(row['mean'], row['high'] - row['low'])} ± {significant(row['sd'])}"
    return shown + "*" * bool(row["prior_dominated"]) + "‡" * bool(row["modes"])


def print_forecast(forecast: "Forecast", rows: "pd.DataFrame") -> None:
    """Print the first forecasts of a table."""
    table = rows[["subject", "item", "mean", "low", "high", "remark"]]
    print_table(table, f"forecasts: means and {forecast.prob:.0%} intervals", needed=table)


def print_comparison(comparison: "Comparison") -> None:
    """Print the ranks of the subjects, and who is ahead of whom."""
    ranking, reading = comparison.ranking, comparison.readings[0]
    ranking = ranking[ranking["reading"] == reading].astype({"rank_low": int, "rank_high": int})
    ranking["P(best)"] = [chance(share, _SHARE) for share in ranking["best"]]
    title = f"{comparison.name}, {reading}: {comparison.prob:.0%} intervals of ranks"
    columns = ["subject", "rank_low", "rank_high", "tied", "mean", "P(best)"]
    print_table(ranking[columns], title)
    say(comparison)
    _say_warnings(comparison.table["warning"])


def _say_warnings(warnings: "pd.Series") -> None:
    """Print the first of different warnings."""
    for text in [text for text in warnings.unique() if text][:_TOLD]:
        say(f"warning: {text}")


def print_layouts(compared: "pd.DataFrame") -> None:
    """Print how layouts compare, the best first."""
    table = compared[["elpd", "se", "elpd_diff", "dse", "p", "weight"]].rename_axis("layout")
    table["weight"] = [fixed(weight, 1) for weight in table["weight"]]
    print_table(table.reset_index(), "leave-one-out by cell")
    _say_warnings(compared["diag_elpd"])
    say("elpd_diff is decided where it is more than 2 dse, and 4, from 0")


def print_scores(fit: "Fit", scores: "pd.DataFrame") -> None:
    """Print each subject's scores, and the mean beside that of success rates in the fit."""
    from ..inference.posterior.posterior import success_rates

    table = scores.drop(columns="outside_training").rename_axis("subject").reset_index()
    title = f"{fit.layout.name}: lower is better, but for auroc"
    print_table(table, title, needed=["remark"], more="; --json prints all")
    mean = f"mean Brier score: {fixed(scores['brier'].mean(), _DECIMALS)}"
    if fit.layout.steps is None:
        trained, rate = success_rates(fit)[scores.index], scores["success"]
        # the mean of (outcome - trained)^2 over outcomes of 0 and 1
        aggregate = (rate * (1 - rate) + (rate - trained) ** 2).mean()
        mean += "; where each subject's success rate in the fit is its forecast: "
        mean += fixed(aggregate, _DECIMALS)
    say(mean)


def _console(stream: TextIO | None = None) -> "Console":
    """Make a console in which a name such as ``[as]`` is no markup."""
    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            """Raise the error, for the command to exit with its status."""
            raise BrokenPipeError

    console = Plain(file=stream, markup=False, emoji=False, highlight=False)
    if not console.is_terminal:
        console.width = _WIDE
    return console
