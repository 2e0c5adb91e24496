"""A battery of the published size and structure, and fifteen subjects with known profiles."""

from importlib.resources import files

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.options import whole
from ...layouts import Capability, Derived, Layout, MetaFeature, Success
from ...linking import guessing, logistic, product
from ..scenario import Cohort
from .scales import DEMANDS

ITEMS = 16_108
SLOPE = 2.5
"""Slope of success as a demand exceeds its ability, in log-odds per level."""

_COMMON = {  # change of each of these demands, in levels, per unit of an item's hardness
    **{"AS": 0.4, "CEc": 0.45, "CEe": 0.25, "AT": 0.45, "VO": 0.45},
    **{"CL": 0.65, "MCr": 0.55, "MCt": 0.55, "MCu": 0.55, "QLl": 0.65},
}
_ASKED = {  # usual level of these demands in items where they are above 0
    **{"MS": 2.5, "QLq": 2.0, "SNs": 2.0},
    **{"KNa": 3.4, "KNc": 2.5, "KNf": 2.7, "KNn": 3.0, "KNs": 3.3},
}
_OWN = 0.3  # independent standard deviation of each demand, in levels
_OWN_ASKED = 0.6
_TOP = 5
_HIGHEST = 10.0


def tasks() -> pd.DataFrame:
    """Return the 63 tasks of the battery.

    Tasks and sizes are the published ones. Mean levels of six benchmarks are those of their
    released labels (Civil Service Examination, LSAT, SAT, MCTACO, TimeDial and TruthQuest). The
    others are chosen to agree with the paper's descriptions: high levels in the sciences of a
    benchmark, low levels in the easy benchmarks on time, and little verbal expression, social
    cognition and space.

    Returns
    -------
    DataFrame
        One row per task: ``benchmark``, ``task``, ``items``, usual ``unguessability`` in per cent,
        ``spread`` (factor of the variation of levels between items, 1 for most) and the mean level
        of each demand, 0 to 5.

    References
    ----------
    General scales paper, Table 11, Figure 6 and section 3.2.

    Examples
    --------
    >>> table = tasks()
    >>> len(table), table["benchmark"].nunique(), int(table["items"].sum())
    (63, 20, 16108)
    """
    with (files(__package__) / "tasks.csv").open() as file:
        return pd.read_csv(file)


def battery(seed: int = 1, items: int = ITEMS) -> pd.DataFrame:
    """Draw a battery with the published tasks.

    Levels are rounded normal numbers around a task's means. Ten demands share the hardness of their
    item, so that they are correlated. The other eight (knowledge, social cognition, quantities and
    space) are 0 in many items and at a usual level in the others, with frequencies that give the
    mean. The highest rank correlations are above 0.8 (CL with QLl) and about 0.8 (CL with MCu);
    those of KNc and KNs with most other demands are negative.

    Parameters
    ----------
    seed : int
        Seed of the levels.
    items : int
        Number of items to take from the 16,108, at equal distances in the order of the tasks.

    Returns
    -------
    DataFrame
        ``demand[AS]`` and so on, in whole levels of 0 to 5; ``unguessability`` in per cent;
        ``benchmark``; ``task``.

    Raises
    ------
    DataError
        When `items` is not between 1 and 16,108.
    FitError
        When `seed` or `items` is not a whole number.

    References
    ----------
    General scales paper, section 5.4 and Figures 4 to 6.

    Examples
    --------
    >>> few = battery(items=200)
    >>> few.groupby("benchmark").size().nlargest(3).to_dict()
    {'MMLU-Pro': 67, 'ChemLLMBench': 22, 'OmniMath': 21}
    """
    if not 1 <= whole("items", items) <= ITEMS:
        raise DataError(f"items={items}; the battery has {ITEMS}, so give 1 to {ITEMS}")
    rng = np.random.default_rng(whole("seed", seed))
    table = tasks()
    rows = np.repeat(np.arange(len(table)), table["items"])
    number = table.loc[rows].groupby(rows).cumcount().to_numpy()
    levels = _levels(rng, table.iloc[rows])
    items_table = pd.DataFrame(levels, columns=[f"demand[{code}]" for code in DEMANDS])
    for name in ("unguessability", "benchmark", "task"):
        items_table[name] = table[name].to_numpy()[rows]
    names = items_table["benchmark"] + "-" + items_table["task"] + "-" + (number + 1).astype(str)
    items_table.index = pd.Index(names.array, name="item")
    return items_table.iloc[np.linspace(0, ITEMS - 1, items).round().astype(int)]


def rule() -> Layout:
    r"""Return the layout from which outcomes are simulated.

    .. math:: P = c + (1 - c) \prod_d \sigma(2.5 (a_d - l_d)), \quad c = 1 - u / 100

    An item with unguessability u is guessed with probability c. Otherwise success needs all of 18
    abilities: at a demand level equal to the ability, the success rate is one half on items without
    other demands. The paper has no such rule; its assessors and characteristic curves refer to the
    same quantities.

    Examples
    --------
    >>> rule()
    <Layout 'general-scales-rule': ability, demand, able, unguessability, success>
    """
    ability = Capability("ability", low=0, high=_HIGHEST, unit="level", labels=DEMANDS)
    demand = MetaFeature("demand", low=0, high=_TOP, unit="level", labels=DEMANDS)
    unguessability = MetaFeature("unguessability", low=0, high=100)
    able = Derived("able", product(logistic(ability - demand, SLOPE), over="dimension"))
    return Layout(
        "general-scales-rule", Success("success", guessing(able, 1 - unguessability / 100))
    )


def true_profiles() -> pd.DataFrame:
    """Return abilities with which the fifteen subjects reach their published accuracies.

    The paper shows its ability profiles in figures and prints one number, so that these profiles
    are our own, with the same pattern. They are not comparable in level: the paper's abilities are
    areas under characteristic curves of items with several demands at once, and are lower.

    The general level of a subject was chosen so that its expected success over the whole battery
    equals its published accuracy. Models that reason have half a level more of reasoning, of
    identifying relevant information and of social cognition. Knowledge grows with the logarithm of
    the size, if that is public; distilled models have half a level less of spatial reasoning. Each
    ability has an independent standard deviation of 0.3 levels.

    Returns
    -------
    DataFrame
        Abilities, indexed by subject, with columns ``ability[AS]`` and so on, in levels.

    References
    ----------
    General scales paper, section 3.3 and Figure 8.

    Examples
    --------
    >>> profiles = true_profiles()
    >>> print(profiles.mean(axis=1).round(1).head(6))
    subject
    Babbage-002       3.0
    Davinci-002       3.2
    GPT-3.5-Turbo     4.2
    GPT-4o            4.8
    OpenAI o1-mini    5.1
    OpenAI o1         5.3
    dtype: float64
    """
    with (files(__package__) / "profiles.csv").open() as file:
        return pd.read_csv(file, index_col="subject")


def simulated_cohort(seed: int = 1, items: int = ITEMS) -> Cohort:
    """Simulate the answers of the fifteen subjects to the battery under `rule`.

    Parameters
    ----------
    seed : int
        Seed of battery and outcomes.
    items : int
        As in `battery`.

    Returns
    -------
    Cohort
        Outcomes and true profiles; the latter are the same for every seed.

    References
    ----------
    General scales paper, Tables 2, 3 and 11.

    Examples
    --------
    >>> simulated_cohort(items=100).evaluation.successes.shape
    (15, 100)
    """
    return Cohort.drawn(rule(), battery(seed, items), true_profiles(), seed)


def _levels(rng: np.random.Generator, table: pd.DataFrame) -> np.ndarray:
    """Draw the demand levels of items from the rows of their tasks, shape (items, dimensions)."""
    means = table[list(DEMANDS)].to_numpy(dtype=float)
    spread = table[["spread"]].to_numpy(dtype=float)
    hardness, specific = rng.normal(size=(len(table), 1)), rng.normal(size=means.shape)
    chosen = rng.random(means.shape)
    common = np.array([_COMMON.get(code, 0.0) for code in DEMANDS])
    usual = np.array([_ASKED.get(code, 0.0) for code in DEMANDS])
    scale = np.where(usual > 0, _OWN_ASKED, _OWN)
    level = np.maximum(means, usual) + spread * (common * hardness + scale * specific)
    demanded = (usual == 0) | (chosen * usual < means)
    return np.asarray(np.clip(np.rint(level * demanded), 0, _TOP).astype(int))
