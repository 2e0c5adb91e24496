"""What a check found, and how it is written as text."""

import textwrap
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...common.messages import many
from ...common.showing import Overview, Shown

PROB = 0.9  # mass of the intervals whose coverage is predicted

_WIDTH = 100  # characters of a line
_MOST = 24  # most rows of a printed table


@dataclass(frozen=True, eq=False, repr=False)
class Check(Shown):
    """What a layout can learn from data, before it is fitted.

    Made by `check`; ``print`` shows all of it.

    Attributes
    ----------
    layout : str
        Name of the layout.
    latents : DataFrame
        One row per profile element. For a joint layout, one row for every latent and label, with
        a column ``per`` of what has its own value (subject, item or category); standard deviations
        are then those of the median level.

        - ``node``, ``label`` (empty without labels), ``unit``.
        - ``informed_by``: columns of the items that it is compared with in the formula and that
          vary.
        - ``items``, ``trials``: number of items, and of the median subject's trials, whose outcome
          depends on it. With several outcomes, trials are attempts, each counted for every such
          outcome.
        - ``prior_sd``; ``expected_sd``, the expected posterior standard deviation of the median
          subject at draws from the prior; ``shrinkage``,
          :math:`1 - sd_{expected}^2 / sd_{prior}^2` as in `profiles`.
        - ``confounded_with``: the element with which its expected posterior correlation exceeds
          0.7 in size, empty where there is none; ``correlation``: the strongest one with any
          element.
        - ``verdict``: "informed" (shrinkage from 0.5), "weakly informed", "prior-dominated"
          (below 0.1), or "confounded with" an element.
    features : DataFrame
        By column of the meta-features: ``unit``, declared range (``declared_low``,
        ``declared_high``), observed range (``low``, ``high``), numbers of ``distinct`` values and
        of items where it is ``missing`` or ``outside`` its range, whether it is ``constant``, and
        its ``variance_inflation`` by the others (NaN where it never varies or is undefined
        somewhere).
    collinear : DataFrame
        Correlated demands; see `columns.collinear`.
    subjects : DataFrame
        By subject: ``trials``, ``success`` rate, and whether all outcomes are the same
        (``all_alike``). With several outcomes, grades or scores, trials are attempts, and success
        is the mean outcome as a fraction of the highest.
    expected : DataFrame
        Expected posterior standard deviations, subjects by profile elements.
    problems : list of str
        Problems to correct before fitting, each with its remedy.
    stepped : bool
        Whether there are several outcomes, grades or scores.
    agreement : DataFrame
        Test of whether each subject's outcomes agree with other subjects', item by item. One row
        per subject; columns as in `agreement.agreement`.
    effects : DataFrame
        For a joint layout, the amount of data on each latent: one row per latent with separate
        values for subjects, items or categories; columns as in `population.rest`.
    advice : list of str
        Recommendations that are not problems.

    Examples
    --------
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> from measurement_layouts.validation.checking.check import check
    >>> check(aaio.published_layout(), aaio.simulated_cohort().evaluation)
    <Check of 'animal-ai-olympics': 1 of 4 profile elements informed, 2 problems>
    """

    layout: str
    latents: pd.DataFrame
    features: pd.DataFrame
    collinear: pd.DataFrame
    subjects: pd.DataFrame
    expected: pd.DataFrame
    problems: list[str]
    stepped: bool
    agreement: pd.DataFrame
    effects: pd.DataFrame
    advice: list[str]

    def __repr__(self) -> str:
        informed = int((self.latents["verdict"] == "informed").sum())
        return (
            f"<Check of {self.layout!r}: {informed} of "
            f"{many(len(self.latents), 'profile element')} informed, "
            f"{many(len(self.problems), 'problem')}>"
        )

    def __str__(self) -> str:
        return in_words(self)

    def _overview(self) -> Overview:
        facts = {f"problem {place}": text for place, text in enumerate(self.problems, 1)}
        calls = {"print(check)": "all tables", "ml.fit(layout, evaluation, seed=1)": "profiles"}
        return Overview(facts, calls, {"profile elements": self.latents, "items": self.features})


def in_words(check: Check, width: int | None = None) -> str:
    """Write a check as text: what informs each latent, demands, subjects and problems.

    Parameters
    ----------
    check : Check
        The check.
    width : int, optional
        Characters of a line; columns of tables that do not fit are left out (default: tables are
        whole, and sentences have 100 characters a line).

    Returns
    -------
    str
        Tables and sentences.
    """
    everybody = check.subjects
    trials, rates = everybody["trials"], everybody["success"]
    what = "Latents" if len(check.effects) else "Profile"
    parts = [
        f"Layout {check.layout!r} against {many(len(everybody), 'subject')}, before sampling",
        f"{what} (sd: before the data, and expected after them)\n"
        + _table(_latents_shown(check), width),
    ]
    if len(check.effects):
        parts.append(
            "Data on each latent (medians)\n" + _table(_effects_shown(check.effects), width)
        )
    if len(check.features):
        parts.append("Meta-features\n" + _table(_features_shown(check.features), width))
    if len(check.collinear):
        parts.append("Correlated demands\n" + _table(_collinear_shown(check.collinear), width))
    what, rate = ("attempts", "mean outcome") if check.stepped else ("trials", "success")
    parts.append(
        f"Subjects: {_span(trials)} {what} each, "
        f"{rate} {rates.min():.2f} to {rates.max():.2f}, all outcomes the same in "
        f"{many(int(everybody['all_alike'].sum()), 'subject')}"
    )
    tested = int(check.agreement["p"].notna().sum())
    if tested:
        parts[-1] += (
            f"\nOutcomes that agree with no other subject's, item by item: in "
            f"{int(check.agreement['flagged'].sum())} of {many(tested, 'subject')} (false alarms: "
            "1% at most)"
        )
    numbered = [_wrapped(f"{place}. ", text, width) for place, text in enumerate(check.problems, 1)]
    parts.append("\n".join(["Problems", *numbered]) if numbered else "No problems found")
    parts += [_wrapped("", text, width).strip() for text in check.advice]
    return "\n\n".join(parts)


def _span(trials: pd.Series) -> str:
    least, most = trials.min(), trials.max()
    return f"{most}" if least == most else f"{least} to {most} (median {trials.median():g})"


def _latents_shown(check: Check) -> pd.DataFrame:
    table = check.latents
    labels = table["label"].map(lambda label: f"[{label}]" if label else "")
    sds = zip(table["prior_sd"], table["expected_sd"], strict=True)
    owners = {"per": table["per"]} if "per" in table else {}
    return pd.DataFrame(
        {
            "element": table["node"] + labels,
            **owners,
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


def _effects_shown(table: pd.DataFrame) -> pd.DataFrame:
    trials = zip(table["least_trials"], table["trials"], strict=True)
    told = [f"{median:g} ({least:g} at least)" for least, median in trials]
    shown = table.rename(columns={"node": "latent", "per": "one per"}).assign(trials=told)
    return shown.drop(columns="least_trials")


def _features_shown(table: pd.DataFrame) -> pd.DataFrame:
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


def _collinear_shown(table: pd.DataFrame) -> pd.DataFrame:
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


def _table(table: pd.DataFrame, most: int | None) -> str:
    """Write a table with texts aligned left and numbers aligned right, two spaces apart.

    Columns that would make it wider than `most` are left out, from the right.
    """
    shown = table.head(_MOST).astype(str)
    columns = [
        name for name in shown.columns if (shown[name] != "").any() or name == shown.columns[0]
    ]
    lines = [""] * (len(shown) + 1)
    for place, name in enumerate(columns):
        cells = [name, *shown[name]]
        width = max(map(len, cells))
        if most is not None and place and len(lines[0]) + 2 + width > most:
            lines.append(f"  not shown at this width: {', '.join(columns[place:])}")
            break
        right = pd.api.types.is_numeric_dtype(table[name])
        lines = [
            f"{line}  {cell:>{width}}" if right else f"{line}  {cell:<{width}}"
            for line, cell in zip(lines, cells, strict=True)
        ]
    if len(table) > _MOST:
        lines.append(f"  and {many(len(table) - _MOST, 'row')} more")
    return "\n".join(line.rstrip() for line in lines)


def _wrapped(head: str, text: str, width: int | None) -> str:
    return textwrap.fill(
        text,
        width or _WIDTH,
        initial_indent=f"  {head}",
        subsequent_indent="  " + " " * len(head),
        break_long_words=False,
        break_on_hyphens=False,
    )
