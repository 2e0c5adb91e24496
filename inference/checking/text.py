"""A check as plain text, for a terminal."""

import textwrap
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..criticism.overdispersion import subjects
from ..wording import many

if TYPE_CHECKING:
    from .check import Check

_WIDTH = 100  # letters of a line
_MOST = 24  # rows of a table


def written(check: "Check") -> str:
    """Write a check: what each latent is informed by, demands, subjects and problems."""
    everybody = check.subjects
    trials, rates = everybody["trials"], everybody["success"]
    parts = [
        f"Layout {check.layout!r} against {many(len(everybody), 'subject')}, before sampling",
        "Profile (sd: before the data, and expected after them)\n" + _table(_latents(check)),
        "Meta-features\n" + _table(_features(check.features)),
    ]
    if len(check.collinear):
        parts.append("Demands that go together\n" + _table(_collinear(check.collinear)))
    what, rate = ("attempts", "mean outcome") if check.stepped else ("trials", "success")
    parts.append(
        f"Subjects: {trials.min()} to {trials.max()} {what} each (median {trials.median():g}), "
        f"{rate} {rates.min():.2f} to {rates.max():.2f}, all alike in "
        f"{many(int(everybody['all_alike'].sum()), 'subject')}"
    )
    if len(check.overdispersion):
        parts[-1] += f"\nRepeated attempts: too much alike in {subjects(check.overdispersion)} "
        parts[-1] += "(false alarms: 5% of checks at most)"
    numbered = [_wrapped(f"{place}. ", text) for place, text in enumerate(check.problems, 1)]
    parts.append("\n".join(["Problems", *numbered]) if numbered else "No problems found")
    return "\n\n".join(parts)


def _latents(check: "Check") -> pd.DataFrame:
    table = check.latents
    labels = table["label"].map(lambda label: f"[{label}]" if label else "")
    sds = zip(table["prior_sd"], table["expected_sd"], strict=True)
    return pd.DataFrame(
        {
            "element": table["node"] + labels,
            "sd": [f"{before:.2g} to {after:.2g}" for before, after in sds],
            "unit": table["unit"],
            "shrinkage": table["shrinkage"].map("{:.2f}".format),
            "items": table["items"],
            "verdict": table["verdict"],
            "informed by": [
                textwrap.shorten(text, 28, placeholder=" ...") for text in table["informed_by"]
            ],
        }
    )


def _features(table: pd.DataFrame) -> pd.DataFrame:
    def ends(low: str, high: str) -> list[str]:
        pairs = zip(table[low], table[high], strict=True)
        return [f"{a:.4g} to {b:.4g}" for a, b in pairs]

    return pd.DataFrame(
        {
            "column": table.index,
            "declared": ends("declared_low", "declared_high"),
            "seen": ends("low", "high"),
            "unit": table["unit"],
            "distinct": table["distinct"],
            "missing": table["missing"],
            "outside": table["outside"],
            "inflation": [_number(value) for value in table["variance_inflation"]],
        }
    )


def _collinear(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "demands": table["demands"],
            "Pearson": [_number(value) for value in table["pearson"]],
            "Spearman": [_number(value) for value in table["spearman"]],
            "inflation": [_number(value) for value in table["variance_inflation"]],
            "relation": table["relation"],
        }
    )


def _number(value: float) -> str:
    if np.isnan(value):
        return "-"
    return "infinite" if np.isinf(value) else f"{value:.2f}" if value < 100 else f"{value:.0f}"


def _table(table: pd.DataFrame) -> str:
    """Set columns of texts to the left and numbers to the right, two spaces apart."""
    shown = table.head(_MOST).astype(str)
    columns = [
        name for name in shown.columns if (shown[name] != "").any() or name == shown.columns[0]
    ]
    lines = [""] * (len(shown) + 1)
    for name in columns:
        cells = [name, *shown[name]]
        width = max(map(len, cells))
        right = pd.api.types.is_numeric_dtype(table[name])
        lines = [
            f"{line}  {cell:>{width}}" if right else f"{line}  {cell:<{width}}"
            for line, cell in zip(lines, cells, strict=True)
        ]
    if len(table) > _MOST:
        lines.append(f"  and {many(len(table) - _MOST, 'row')} more")
    return "\n".join(line.rstrip() for line in lines)


def _wrapped(head: str, text: str) -> str:
    return textwrap.fill(
        text,
        _WIDTH,
        initial_indent=f"  {head}",
        subsequent_indent="  " + " " * len(head),
        break_long_words=False,
        break_on_hyphens=False,
    )
