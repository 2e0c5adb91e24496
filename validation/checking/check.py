"""Checks of a layout against data before sampling."""

import textwrap
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from ...batteries.information.expected import CONFOUNDED, Expected, expected
from ...common import options
from ...common.errors import DataError
from ...common.messages import many, some
from ...common.showing import Overview, Shown
from ...evaluations.evaluation import Evaluation
from ...evaluations.steps import of_rows, refuse_other_rows
from ...inference.model.alignment import Features
from ...inference.model.features import read_features
from ...layouts import Layout
from ...layouts.elements import elements
from ...layouts.opposed import opposed
from ...linking import units
from ..criticism.agreement import (
    agreement,
    no_agreement,
    outcomes_by_item,
    told_agreement,
)
from ..criticism.overdispersion import Spread, count_flagged, overdispersion, told
from .advice import (
    about_constants,
    about_demands,
    about_latents,
    about_outcomes_twice,
    about_short_tests,
    about_subjects,
    verdict,
)
from .columns import Columns, collinear, inflation, informed_by, read_columns
from .likeliest import Counts, spreads
from .population import no_effects, taught

PROB = 0.9  # mass of the intervals whose coverage is predicted
ALARMS = 0.05  # probability that independent repeated attempts are flagged

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
    overdispersion : DataFrame
        Test of whether repeated attempts at an item are more alike than the layout allows, and the
        effect on 90 % intervals. One row per subject with at least two items that it attempted
        several times, for at most 50 such subjects, and one row for all together. Columns as in
        `overdispersion.overdispersion`.
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
    overdispersion: pd.DataFrame = field(
        default_factory=lambda: overdispersion({}, [], prob=PROB, alpha=ALARMS)
    )
    agreement: pd.DataFrame = field(default_factory=no_agreement)
    effects: pd.DataFrame = field(default_factory=no_effects)
    advice: list[str] = field(default_factory=list)

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


def check(layout: Layout, evaluation: Evaluation, *, seed: int = 1) -> Check:
    r"""Assess, before sampling, how much the data inform each latent of a layout.

    Expected posterior standard deviations come from the Fisher information of the outcomes at
    draws of the profile from its prior, and the prior's precision; see `expected.expected`. For the
    published layout and battery they are within 10 % of those of fits to simulated subjects. They
    apply to subjects drawn from the prior; the data inform less about a subject that passes or
    fails nearly all items. Trials of an item with an `Unseen` property count as independent, which
    makes the expected standard deviations too small.

    Outcomes are used for the table of subjects, and where items were attempted several times, for a
    test of whether these attempts are more alike than the layout allows at the subject's most
    likely profile; see `likeliest.spreads` and `overdispersion.Repeated`. If attempts are
    independent, the probability that anything is flagged, over all subjects together, is at most
    5 % (Holm's adjustment). The test takes about 10 ms for each subject, and is made for at most 50
    subjects, evenly chosen (fewer with over 5,000 items). It is not made where attempts share an
    `Unseen` property.

    The outcomes of each subject are also compared with the other subjects', item by item: outcomes
    that agree with no other subject's may have been read with the items in another order. See
    `agreement.agreement`, also for the share of such subjects that is found; of subjects whose
    items are in order, at most 1 in 100 is flagged.

    For a joint layout, the expected standard deviations are those of all values together, shared
    ones and subjects' own ones; see `population.taught`. Locations that no outcome can tell apart,
    such as a free mean of subjects beside item effects that do not sum to zero, are reported as
    problems. Repeated attempts are not tested for a joint layout.

    Parameters
    ----------
    layout : Layout
        The layout.
    evaluation : Evaluation
        Items and outcomes.
    seed : int, default 1
        Seed of the draws from the prior.

    Returns
    -------
    Check
        Tables, and descriptions of problems.

    Raises
    ------
    DataError
        When a column is missing, no item can be used, or the outcomes do not match the layout.
    FitError
        When the seed is not a whole number.
    LayoutError
        When a prior cannot be drawn from.

    References
    ----------
    Chaloner and Verdinelli (1995), see `expected.expected`; Belsley, Kuh and Welsch (1980), see
    `columns.inflation`.

    Examples
    --------
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> found = check(aaio.published_layout(), aaio.simulated_cohort().evaluation)
    >>> found.latents.set_index("node")["verdict"]
    node
    navigationAbility    weakly informed
    ...
    """
    seed = options.whole("seed", seed)
    refuse_other_rows(layout, evaluation.rows)
    columns = read_columns(layout, evaluation.item_table)
    if not columns.usable.any():
        problems = some(columns.problems, 3, most=1_000)
        raise DataError(f"no item can be used with layout {layout.name!r}: {problems}")
    effects, ridges, advice = no_effects(), list[str](), list[str]()
    names = [element.name for element in elements(layout)]
    found_alike: dict[str, Spread | None] = {}
    if layout.joint:
        usable = evaluation.select(items=evaluation.item_table.index[columns.usable])
        shared = taught(layout, usable, columns.varying, seed=seed)
        latents, sds = shared.latents, shared.sds
        effects, ridges = shared.effects, shared.problems
    else:
        given, trials = _usable(layout, evaluation, columns.usable)
        found = expected(layout, given, trials, seed=seed)
        latents, sds = _latents(layout, found, trials, columns.varying), found.sds
        counts = _counts(layout, evaluation, columns.usable)
        found_alike = spreads(layout, given, counts, seed=seed)
        ridges = about_latents(latents, names)
        advice = about_short_tests(latents, len(evaluation.subjects))
    values = _to_correlate(columns)
    factors = inflation(values.dropna(axis=1))
    features = columns.table.assign(variance_inflation=factors)
    together = collinear(values, factors)
    subjects = _subjects(evaluation)
    spread = overdispersion(found_alike, names, prob=PROB, alpha=ALARMS)
    alone = _agreement(evaluation, seed)
    return Check(
        layout.name,
        latents,
        features,
        together,
        subjects,
        pd.DataFrame(sds, subjects.index, names),
        [
            *columns.problems,
            *about_outcomes_twice(layout),
            *about_constants(features, _opposed_columns(layout)),
            *ridges,
            *about_demands(together),
            *about_subjects(subjects),
            *told_agreement(alone),
            *told(spread, PROB, layout),
        ],
        layout.steps is not None,
        spread,
        alone,
        effects,
        advice,
    )


def _usable(
    layout: Layout, evaluation: Evaluation, usable: np.ndarray
) -> tuple[Features, np.ndarray]:
    """Take the meta-features of the rows of usable items, and the attempts at them."""
    items, attempts = evaluation.item_table[usable], evaluation.attempts.to_numpy()
    features = read_features(layout, items)
    if layout.steps is None:
        return features, attempts[:, usable]
    rows = np.repeat(usable, len(layout.steps.rows))
    return of_rows(layout.steps, features, len(items)), attempts[:, rows]


def _counts(layout: Layout, evaluation: Evaluation, usable: np.ndarray) -> Counts:
    """Take the outcomes on the rows of usable items."""
    rows = evaluation.rows
    chosen = usable if layout.steps is None else np.repeat(usable, len(layout.steps.rows))
    groups = np.arange(len(chosen)) if rows is None else rows.first
    successes = evaluation.successes.to_numpy()[:, chosen]
    trials = evaluation.trials.to_numpy()[:, chosen]
    return Counts(evaluation.subjects, successes, trials, groups[chosen])


def _agreement(evaluation: Evaluation, seed: int) -> pd.DataFrame:
    """Compare subjects' outcomes on items with each other."""
    counts = evaluation.successes.to_numpy(), evaluation.trials.to_numpy()
    outcomes = outcomes_by_item(*counts, evaluation.rows)
    return agreement(evaluation.subjects, outcomes, prob=PROB, seed=seed)


def _opposed_columns(layout: Layout) -> list[str]:
    """List the columns of meta-features that are compared with a latent in the formula."""
    held = opposed(layout)
    features = (feature for feature in layout.meta_features if feature.name in held)
    return [column for feature in features for column in feature.columns]


def _to_correlate(columns: Columns) -> pd.DataFrame:
    """Take the finite columns that vary among the usable items, with NaN where undefined."""
    table = columns.values[columns.usable]
    kept = [
        name
        for name in columns.varying
        if table[name].nunique() > 1 and not np.isinf(table[name]).any()
    ]
    return table[kept]


def _latents(
    layout: Layout, found: Expected, trials: np.ndarray, varying: list[str]
) -> pd.DataFrame:
    known = elements(layout)
    sd = np.median(found.sds, axis=0)
    shrinkage = 1 - (sd / found.prior_sd) ** 2
    items, median = _attempted(layout, found.matters, trials)
    others = np.where(np.eye(len(known), dtype=bool), 0, found.correlation)
    partner = np.abs(others).argmax(axis=1)
    strongest = others[np.arange(len(known)), partner]
    rivals = [
        known[other].name if abs(r) > CONFOUNDED else ""
        for other, r in zip(partner, strongest, strict=True)
    ]
    met = [informed_by(layout, element) for element in known]
    return pd.DataFrame(
        {
            "node": [element.latent.name for element in known],
            "label": [element.label for element in known],
            "unit": [units.name(element.latent.unit) for element in known],
            "informed_by": [", ".join(c for c in columns if c in varying) for columns in met],
            "items": items,
            "trials": median,
            "prior_sd": found.prior_sd,
            "expected_sd": sd,
            "shrinkage": shrinkage,
            "confounded_with": rivals,
            "correlation": strongest if len(known) > 1 else np.nan,
            "verdict": [verdict(*row) for row in zip(shrinkage, rivals, strict=True)],
        }
    )


def _attempted(
    layout: Layout, matters: np.ndarray, trials: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Count the items, and the median subject's attempts, on which each element matters."""
    count, each = len(layout.outcomes), sum(len(outcome.steps) for outcome in layout.outcomes)
    starts = np.cumsum([0, *(len(outcome.steps) for outcome in layout.outcomes[:-1])])
    first = (np.arange(len(matters) // each)[:, None] * each + starts).ravel()
    own, attempts = np.logical_or.reduceat(matters, first), trials[:, first]
    done = own & attempts.any(axis=0)[:, None]
    items = done.reshape(-1, count, matters.shape[1]).any(axis=1).sum(axis=0)
    return items, np.median(attempts @ own, axis=0).astype(int)


def _subjects(evaluation: Evaluation) -> pd.DataFrame:
    successes, trials = (table.sum(axis=1) for table in (evaluation.successes, evaluation.trials))
    rows, attempts = evaluation.rows, evaluation.attempts.to_numpy()
    first = slice(None) if rows is None else np.unique(rows.first)
    return pd.DataFrame(
        {
            "trials": attempts[:, first].sum(axis=1),
            "success": evaluation.success_rates(),
            "all_alike": (successes == 0) | (successes == trials),
        }
    )


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
        f"Subjects: {trials.min()} to {trials.max()} {what} each (median {trials.median():g}), "
        f"{rate} {rates.min():.2f} to {rates.max():.2f}, all outcomes the same in "
        f"{many(int(everybody['all_alike'].sum()), 'subject')}"
    )
    if len(check.overdispersion):
        parts[-1] += f"\nRepeated attempts: too similar in {count_flagged(check.overdispersion)} "
        parts[-1] += "(false alarms: 5% of checks at most)"
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
