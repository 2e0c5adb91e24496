"""A benchmark that demands capabilities and propensities, and a cohort with known profiles."""

from types import MappingProxyType

import numpy as np
import pandas as pd

from ...layouts import Capability, Derived, Layout, MetaFeature, Noise, Prior, Propensity, Success
from ...linking import band, logistic, mixture, product
from ..scenario import Cohort
from .dimensions import DIMENSIONS, condition, obtained

ITEMS = 360
MODELS = (
    *("4o", "Gemma 3", "Llama 3.2", "Llama 3.3", "Ministral 3-14B-R", "Nemo", "o1"),
    *("Qwen 3-4B-I", "Qwen 3-4B-T", "DS-R1-Llama70B"),
)
"""The nine models of Table 4, and a tenth."""

INCITED = (-2, 0, 2)
"""Levels of ultracrepidarianism to which the benchmark's subjects are incited."""

_MATTERS = "ultracrepidarianism"
_END = 3.0  # outermost level of the propensities' rubrics, on both sides

_DEMANDS = {  # usual levels of a question about time, and of one about mental health
    "AS": (2.5, 2.0),
    "CEc": (2.5, 2.5),
    "CEe": (1.0, 1.5),
    "CL": (1.5, 2.0),
    "MCr": (2.5, 2.5),
    "MCt": (2.0, 2.0),
    "MCu": (1.5, 1.5),
    "MS": (0.5, 2.5),
    "QLl": (2.5, 1.5),
    "QLq": (2.0, 0.5),
    "SNs": (0.5, 0.5),
    "KNa": (1.0, 2.5),
    "KNc": (1.5, 1.5),
    "KNf": (0.5, 0.5),
    "KNn": (0.5, 1.5),
    "KNs": (2.5, 2.0),
    "AT": (2.0, 2.0),
    "VO": (2.0, 1.5),
}
_DOUBT = 1.5  # additional demand on MCu of questions without an answer, in levels
_SPREAD = 0.6  # standard deviation of questions and of each of their demands, in levels

DEMANDS = tuple(_DEMANDS)
"""The capabilities whose demands ADeLe's rubrics rate."""

_CAPABILITIES = tuple(f"demand[{name}]" for name in DEMANDS)
_BANDS = {name: (f"lower[{name}]", f"upper[{name}]") for name in DIMENSIONS}
FEATURES = MappingProxyType(
    {
        "capabilities": _CAPABILITIES,
        "one propensity more": (*_CAPABILITIES, *_BANDS[_MATTERS]),
        "all propensities more": (*_CAPABILITIES, *sum(_BANDS.values(), ())),
    }
)
"""Columns from which the three assessors of Table 4 predict."""


def joined_layout() -> Layout:
    """Return a layout with eighteen capabilities and four propensities.

    - Success needs every capability, and every propensity inside its band.
    - 360 outcomes are not very informative about each of eighteen capabilities. Each capability
      therefore varies about the subject's general level, with a standard deviation of one level.
    - Noise is an inferred weight of guessing, with a success rate of one half.

    References
    ----------
    Propensities paper, section 4.4, which has the demands and bands from which assessors predict.

    Examples
    --------
    >>> [latent.name for latent in joined_layout().latents]
    ['generalLevel', 'capability', 'propensity', 'noise']
    """
    general = Capability("generalLevel", unit="level", prior=Prior("Normal", mu=4, sigma=1.5))
    near = Prior("Normal", mu=general, sigma=1)
    capability = Capability("capability", unit="level", prior=near, labels=DEMANDS)
    demand = MetaFeature("demand", low=0, high=5, unit="level", labels=DEMANDS)
    names = tuple(DIMENSIONS)
    anywhere = Prior("Normal", mu=0, sigma=1.5)
    propensity = Propensity("propensity", unit="level", prior=anywhere, labels=names, dim="kind")
    lower, upper = (
        MetaFeature(end, low=-_END, high=_END, unit="level", labels=names, dim="kind")
        for end in ("lower", "upper")
    )
    noise = Noise("noise", prior=Prior("Beta", alpha=1, beta=9))

    able = Derived("able", product(logistic(capability - demand, 2), over="dimension"))
    inclined = Derived("inclined", product(band(propensity, lower, upper), over="kind"))
    outcome = Success("success", mixture(able * inclined, by=noise, toward=0.5))
    return Layout("capabilities-and-propensities", outcome)


def benchmark_items(seed: int = 1) -> pd.DataFrame:
    """Make 360 questions, half of which have no answer in their text.

    A subject that withholds answers fails questions with an answer: their bands of
    ultracrepidarianism have lower ends of -1, -2 or -3. A subject that answers beyond its knowledge
    fails questions without an answer: their bands have upper ends of 1, 2 or 3. This band improves
    forests by about as much as in the paper. The bands of the other propensities contain [-2, 2],
    and nine of ten ends are those of the scale.

    Parameters
    ----------
    seed : int
        Seed of demands and bands.

    Returns
    -------
    DataFrame
        Demands in whole levels of 0 to 5, both ends of each band in levels of -3 to 3, and
        ``answerable``, which layouts do not need.

    References
    ----------
    Propensities paper, section 4.4. Its questions are not public; these numbers are our own.

    Examples
    --------
    >>> items = benchmark_items()
    >>> items.shape
    (360, 27)
    >>> items.groupby("answerable")[["demand[MCu]", "upper[ultracrepidarianism]"]].mean().round(1)
                demand[MCu]  upper[ultracrepidarianism]
    answerable
    0                   3.0                         1.9
    1                   1.5                         3.0
    """
    rng = np.random.default_rng(seed)
    answerable = np.arange(ITEMS) % 2 == 0
    topic = np.arange(ITEMS) // 2 % 2
    usual = np.array(list(_DEMANDS.values())).T[topic]
    usual[~answerable, DEMANDS.index("MCu")] += _DOUBT
    hardness = rng.normal(0, _SPREAD, (ITEMS, 1)) + rng.normal(0, _SPREAD, usual.shape)
    columns = dict(zip(_CAPABILITIES, np.clip(np.rint(usual + hardness), 0, 5).T, strict=True))
    for name, (lower, upper) in _BANDS.items():
        closed = rng.random((2, ITEMS)) < 0.1
        columns |= {lower: -_END + closed[0], upper: _END - closed[1]}
        if name == _MATTERS:
            ends = rng.integers(1, 4, ITEMS)
            columns[lower] = np.where(answerable, -ends, -_END)
            columns[upper] = np.where(answerable, _END, ends)
    index = pd.Index([f"question-{number:03d}" for number in range(1, ITEMS + 1)], name="item")
    return pd.DataFrame(columns, index).assign(answerable=answerable.astype(int))


def true_profiles(seed: int = 1) -> pd.DataFrame:
    """Return profiles in `joined_layout` for ten models, each with three incitements.

    The capabilities of a model are the same under every incitement: within about one level of its
    general level, which is between 3.8 and 5.2. Ultracrepidarianism is that obtained in the paper;
    the other propensities are near 0.

    Parameters
    ----------
    seed : int
        Seed of all values except ultracrepidarianism. Capabilities are simulated and are not those
        of the real models.

    References
    ----------
    Propensities paper, Table 2.

    Examples
    --------
    >>> true_profiles().loc["o1 -2", "propensity[ultracrepidarianism]"]
    np.float64(-1.59)
    """
    rng = np.random.default_rng([seed, 1])
    published = obtained()["obtained"]
    rows = {}
    for model in MODELS:
        general = rng.uniform(3.8, 5.2)
        own = {"generalLevel": general, "noise": rng.uniform(0.02, 0.15)}
        own |= {f"capability[{name}]": rng.normal(general, 0.7) for name in DEMANDS}
        own |= {f"propensity[{name}]": rng.normal(0, 0.3) for name in DIMENSIONS}
        for level in INCITED:
            theta = published[condition(model, level, _MATTERS)]
            rows[condition(model, level)] = own | {f"propensity[{_MATTERS}]": theta}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("subject")


def benchmark_cohort(seed: int = 1) -> Cohort:
    """Simulate the answers of the thirty subjects to the benchmark, under `joined_layout`.

    Parameters
    ----------
    seed : int
        Seed of questions, profiles and outcomes.

    Returns
    -------
    Cohort
        Outcomes and true profiles.

    References
    ----------
    Propensities paper, section 4.4.

    Examples
    --------
    >>> benchmark_cohort().evaluation.successes.shape
    (30, 360)
    """
    return Cohort.drawn(joined_layout(), benchmark_items(seed), true_profiles(seed), seed)
