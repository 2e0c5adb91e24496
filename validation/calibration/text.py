"""The report of simulation-based calibration, in Markdown."""

from collections.abc import Mapping

import pandas as pd

from ...common.messages import many
from .result import UNCONVERGED, SimulationBasedCalibration

_LEAST_P = 1e-4
_CELLS = {"calibrated": "yes", "not calibrated": "**no**", "inconclusive": "**inconclusive**"}


def summary(found: "Mapping[str, SimulationBasedCalibration]") -> pd.DataFrame:
    """Tell each layout in a row.

    Parameters
    ----------
    found : mapping of str to SimulationBasedCalibration
        By name of the layout.

    Returns
    -------
    DataFrame
        By ``layout``: ``simulations``, ``not_converged``, ``failed``, ``quantities``, smallest
        ``p`` of these and its ``least`` likely quantity, smallest and largest ``coverage`` of 90 %
        intervals, and the ``verdict``: ``calibrated``, ``not calibrated`` or ``inconclusive``.
    """
    rows = {}
    for name, one in found.items():
        table = one.table()
        rows[name] = {
            "simulations": one.simulations,
            "not_converged": one.not_converged,
            "failed": one.failed,
            "quantities": len(table),
            "p": table["p"].min(),
            "least": table["p"].idxmin(),
            "coverage_low": table["coverage"].min(),
            "coverage_high": table["coverage"].max(),
            "verdict": _verdict(one),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("layout")


def report(found: "Mapping[str, SimulationBasedCalibration]", picture: str) -> str:
    """Write the report.

    Parameters
    ----------
    found : mapping of str to SimulationBasedCalibration
        By name of the layout.
    picture : str
        Where the figure is, seen from the report.

    Returns
    -------
    str
        Markdown.
    """
    alpha = next(iter(found.values())).alpha
    lines = [
        "# Simulation-based calibration",
        "",
        "Profiles drawn from each layout's prior, outcomes from the profiles, and a fit of each. "
        "If all is right, true values have uniform ranks among posterior draws. A calibrated "
        f"layout is found wanting with a chance of at most {alpha:g}. Where more than "
        f"{UNCONVERGED:.0%} of the simulations did not converge or failed, uniform ranks prove "
        "nothing: the verdict is inconclusive.",
        "",
        *rows(summary(found)),
        "",
        *_remarks(found),
        f"![Ranks of true values]({picture})",
        "",
    ]
    return "\n".join(lines)


def rows(table: pd.DataFrame) -> list[str]:
    """Write a summary as lines of a Markdown table."""
    head = (
        "layout",
        "simulations",
        "not_converged",
        "quantities",
        "smallest p × quantities",
        "coverage of 90 % intervals",
        "calibrated",
    )
    lines = [_row(head), _row("---" if place == 0 else "---:" for place in range(len(head)))]
    for name, row in table.iterrows():
        adjusted = min(1.0, row["quantities"] * row["p"])
        least = f"{adjusted:.2g}" if adjusted >= _LEAST_P else f"< {_LEAST_P:g}"
        cells = (
            name,
            row["simulations"],
            row["not_converged"],
            row["quantities"],
            f"{least} ({row['least']})",
            f"{100 * row['coverage_low']:.0f} to {100 * row['coverage_high']:.0f} %",
            _CELLS[row["verdict"]],
        )
        lines.append(_row(cells))
    return lines


def _verdict(one: SimulationBasedCalibration) -> str:
    if one.calibrated:
        return "calibrated"
    return "inconclusive" if one.inconclusive else "not calibrated"


def _row(cells: object) -> str:
    texts = (" ".join(str(cell).replace("|", "\\|").split()) for cell in cells)  # type: ignore[attr-defined]
    return f"| {' | '.join(texts)} |"


def _remarks(found: "Mapping[str, SimulationBasedCalibration]") -> list[str]:
    twice = [name for name, one in found.items() if one.uses_outcomes_twice]
    failed = {name: one.failed for name, one in found.items() if one.failed}
    lines = [
        f"- {name}: noise pulls towards the subject's own mean failure, so that outcomes count "
        "twice. It is not calibrated by design; pulling towards a number it is."
        for name in twice
    ]
    lines += [f"- {name}: {many(count, 'simulation')} failed." for name, count in failed.items()]
    lines += [f"- {name}: {one.verdict()}." for name, one in found.items() if one.inconclusive]
    return [*lines, ""] if lines else []
