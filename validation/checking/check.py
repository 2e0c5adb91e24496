"""Check a layout against data before sampling."""

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

PROB = 0.9  # mass of the intervals whose coverage is forecast
ALARMS = 0.05  # chance that repeated attempts are flagged where they are independent

_WIDTH = 100  # letters of a line
_MOST = 24  # rows of a table


@dataclass(frozen=True, eq=False, repr=False)
class Check(Shown):
    """What a layout can learn from data, before it is fitted.

    Made by `check`; ``print`` shows it whole.

    Attributes
    ----------
    layout : str
        Name of the layout.
    latents : DataFrame
        One row per profile element; where subjects share something, one row for every latent and
        label, with a column ``per``: who has a value of their own. Standard deviations are then
        those of the median level.

        - ``node``, ``label`` (empty without labels), ``unit``.
        - ``informed_by``: columns of the items that it is held against and that vary.
        - ``items``, ``trials``: on which an outcome depends on it; trials of the median subject.
          Where outcomes are several, these are attempts, each counted for every such outcome.
        - ``prior_sd``; ``expected_sd``, the posterior's at draws from the prior, of the median
          subject; ``shrinkage``, :math:`1 - sd_{expected}^2 / sd_{prior}^2` as in `profiles`.
        - ``confounded_with``: the element with which its expected posterior correlation is beyond
          0.7, empty where there is none; ``correlation``: the strongest one with any element.
        - ``verdict``: "informed" (shrinkage from 0.5), "weakly informed", "prior-dominated"
          (below 0.1), or "confounded with" an element.
    features : DataFrame
        By column of the meta-features: ``unit``, declared range (``declared_low``,
        ``declared_high``) and the one seen (``low``, ``high``), ``distinct`` values, ``missing``
        and ``outside`` items, whether it is ``constant``, and its ``variance_inflation`` by the
        others (NaN where it never varies or is undefined somewhere).
    collinear : DataFrame
        Demands that go together; see `columns.collinear`.
    subjects : DataFrame
        By subject: ``trials``, ``success`` rate, and whether outcomes are ``all_alike``. Where
        outcomes are several, graded or scores, trials are attempts, and success is the mean outcome
        as a part of the highest.
    expected : DataFrame
        Expected posterior standard deviations, subjects by profile elements.
    problems : list of str
        What to mend before fitting, with the remedy.
    stepped : bool
        Whether outcomes are several, graded or scores.
    overdispersion : DataFrame
        Whether repeated attempts at an item are more alike than the layout allows, and what that
        does to 90 % intervals. One row per subject with at least two items that it attempted
        several times, of 50 of them at most, and one of all together. Columns as in
        `overdispersion.overdispersion`.
    agreement : DataFrame
        Whether subjects' outcomes agree with anybody's, item by item. One row per subject; columns
        as in `agreement.agreement`.
    effects : DataFrame
        On what values rest, where subjects share something: one row per latent with values of its
        own for subjects, items or categories; columns as in `population.rest`.
    advice : list of str
        What may be better without being a problem.

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
        return _written(self)

    def _overview(self) -> Overview:
        facts = {f"problem {place}": text for place, text in enumerate(self.problems, 1)}
        calls = {"print(check)": "all of it", "ml.fit(layout, evaluation, seed=1)": "profiles"}
        return Overview(facts, calls, {"profile elements": self.latents, "items": self.features})


def check(layout: Layout, evaluation: Evaluation, *, seed: int = 1) -> Check:
    r"""Assess, before sampling, how much the data inform each latent of a layout.

    Expected posterior standard deviations come from the Fisher information of the outcomes at
    draws of the profile from its prior, and the prior's precision; see `expected.expected`. For the
    published layout and battery they are within 10 % of those of fits to simulated subjects. They
    are for subjects such as the prior has them: of one who passes or fails nearly everything, the
    data say less. Trials of an item with something `Unseen` count as independent, which is too
    hopeful.

    Outcomes are looked at for the table of subjects, and where items were attempted several times:
    are these attempts more alike than the layout allows, at the subject's likeliest profile? See
    `likeliest.spreads` and `overdispersion.Repeated`. Where they are independent, the chance that
    anything is flagged, over all subjects together, is at most 5 % (Holm's adjustment). It takes
    some 10 ms for each of 50 subjects at most, evenly chosen (fewer with over 5,000 items). It
    is not asked where attempts share something `Unseen`.

    Outcomes are also held against the other subjects', item by item: whose agree with nobody's may
    have been read with their items in another order. See `agreement.agreement`, also for how many
    are found; at most 1 in 100 whose items are in order is named.

    Where subjects share something, the expected standard deviations are those of all values
    together, shared ones and own ones; see `population.taught`. Locations that no outcome can tell
    apart, such as a free mean of subjects beside item effects that do not sum to zero, are named.
    Repeated attempts are then not looked at.

    Parameters
    ----------
    layout : Layout
        The layout.
    evaluation : Evaluation
        Items and outcomes.
    seed : int, default 1
        Of the draws from the prior.

    Returns
    -------
    Check
        Tables, and problems in words.

    Raises
    ------
    DataError
        When a column is missing, no item can be used, or the outcomes are not the layout's.
    FitError
        When the seed is no whole number.
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
    """Meta-features of the rows of usable items, and the attempts at them."""
    items, attempts = evaluation.item_table[usable], evaluation.attempts.to_numpy()
    features = read_features(layout, items)
    if layout.steps is None:
        return features, attempts[:, usable]
    rows = np.repeat(usable, len(layout.steps.rows))
    return of_rows(layout.steps, features, len(items)), attempts[:, rows]


def _counts(layout: Layout, evaluation: Evaluation, usable: np.ndarray) -> Counts:
    """Outcomes on the rows of usable items."""
    rows = evaluation.rows
    chosen = usable if layout.steps is None else np.repeat(usable, len(layout.steps.rows))
    groups = np.arange(len(chosen)) if rows is None else rows.first
    successes = evaluation.successes.to_numpy()[:, chosen]
    trials = evaluation.trials.to_numpy()[:, chosen]
    return Counts(evaluation.subjects, successes, trials, groups[chosen])


def _agreement(evaluation: Evaluation, seed: int) -> pd.DataFrame:
    """Hold subjects' outcomes on items against each other."""
    counts = evaluation.successes.to_numpy(), evaluation.trials.to_numpy()
    outcomes = outcomes_by_item(*counts, evaluation.rows)
    return agreement(evaluation.subjects, outcomes, prob=PROB, seed=seed)


def _opposed_columns(layout: Layout) -> list[str]:
    """Columns of meta-features that are held against a latent."""
    held = opposed(layout)
    features = (feature for feature in layout.meta_features if feature.name in held)
    return [column for feature in features for column in feature.columns]


def _to_correlate(columns: Columns) -> pd.DataFrame:
    """Take finite columns that vary among the usable items; NaN where undefined."""
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
    """Count items, and the median subject's attempts, on which each element matters."""
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


def _written(check: Check) -> str:
    """Write a check: what each latent is informed by, demands, subjects and problems."""
    everybody = check.subjects
    trials, rates = everybody["trials"], everybody["success"]
    what = "Latents" if len(check.effects) else "Profile"
    parts = [
        f"Layout {check.layout!r} against {many(len(everybody), 'subject')}, before sampling",
        f"{what} (sd: before the data, and expected after them)\n{_table(_latents_shown(check))}",
    ]
    if len(check.effects):
        parts.append("What values rest on (medians)\n" + _table(_effects_shown(check.effects)))
    if len(check.features):
        parts.append("Meta-features\n" + _table(_features_shown(check.features)))
    if len(check.collinear):
        parts.append("Demands that go together\n" + _table(_collinear_shown(check.collinear)))
    what, rate = ("attempts", "mean outcome") if check.stepped else ("trials", "success")
    parts.append(
        f"Subjects: {trials.min()} to {trials.max()} {what} each (median {trials.median():g}), "
        f"{rate} {rates.min():.2f} to {rates.max():.2f}, all alike in "
        f"{many(int(everybody['all_alike'].sum()), 'subject')}"
    )
    if len(check.overdispersion):
        parts[-1] += (
            f"\nRepeated attempts: too much alike in {count_flagged(check.overdispersion)} "
        )
        parts[-1] += "(false alarms: 5% of checks at most)"
    tested = int(check.agreement["p"].notna().sum())
    if tested:
        parts[-1] += (
            f"\nOutcomes item by item: in agreement with nobody's in "
            f"{int(check.agreement['flagged'].sum())} of {many(tested, 'subject')} (false alarms: "
            "1% of subjects at most)"
        )
    numbered = [_wrapped(f"{place}. ", text) for place, text in enumerate(check.problems, 1)]
    parts.append("\n".join(["Problems", *numbered]) if numbered else "No problems found")
    parts += [_wrapped("", text).strip() for text in check.advice]
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
