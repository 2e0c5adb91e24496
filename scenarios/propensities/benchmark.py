"""A benchmark that asks for capabilities and for prudence, and a cohort with known profiles."""

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
"""Those of Table 4, and a tenth."""

INCITED = (-2, 0, 2)
"""Levels of ultracrepidarianism that the benchmark's subjects are incited to."""

_MATTERS = "ultracrepidarianism"
_END = 3.0  # of the propensities' rubrics, on both sides

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
_DOUBT = 1.5  # levels more to tell knowns from unknowns (MCu) where there is no answer
_SPREAD = 0.6  # levels, of questions as a whole and of each of their demands

DEMANDS = tuple(_DEMANDS)
"""The capabilities that ADeLe's rubrics rate the demand for."""

_CAPABILITIES = tuple(f"demand[{name}]" for name in DEMANDS)
_BANDS = {name: (f"lower[{name}]", f"upper[{name}]") for name in DIMENSIONS}
FEATURES = MappingProxyType(
    {
        "capabilities": _CAPABILITIES,
        "one propensity more": (*_CAPABILITIES, *_BANDS[_MATTERS]),
        "all propensities more": (*_CAPABILITIES, *sum(_BANDS.values(), ())),
    }
)
"""Columns that the three assessors of Table 4 see."""


def joined_layout() -> Layout:
    """Return a layout that joins eighteen capabilities and four propensities.

    - Success needs every capability, and every propensity inside its band.
    - 360 outcomes say little about each of eighteen capabilities. So each is expected near the
      subject's general level, give or take a level of demand.
    - Noise is an inferred weight of guessing, right half of the time.

    References
    ----------
    Propensities paper, section 4.4: the demands and bands that its assessors predict from.

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
    """Design 360 questions, half of them without an answer in the text they come with.

    Who withholds fails the others: their bands of ultracrepidarianism end below, at -1, -2 or -3.
    Who pronounces beyond their knowledge fails those without an answer: bands end above, at 1, 2 or
    3. So this band adds to forests about what it adds in the paper. The other propensities' bands
    hold [-2, 2], and nine of ten ends are those of the scale.

    Parameters
    ----------
    seed : int
        Seed of demands and bands.

    Returns
    -------
    DataFrame
        Demands in whole levels of 0 to 5, both ends of each band in levels of -3 to 3, and
        ``answerable``, which no layout needs.

    References
    ----------
    Propensities paper, section 4.4. Its questions are not public; these are our own numbers.

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
    """Give ten models, each under three incitements, a profile in `joined_layout`.

    Capabilities are a model's own under every incitement: within about a level of its general one,
    which lies between 3.8 and 5.2. Ultracrepidarianism is as obtained in the paper; the other
    propensities are near 0.

    Parameters
    ----------
    seed : int
        Seed of all but ultracrepidarianism. Capabilities are invented and are not those of the
        real models.

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
    """Let the thirty subjects answer the benchmark; outcomes follow `joined_layout`.

    Parameters
    ----------
    seed : int
        Seed of questions, profiles and outcomes.

    Returns
    -------
    Cohort
        Outcomes, and the true profiles.

    References
    ----------
    Propensities paper, section 4.4.

    Examples
    --------
    >>> benchmark_cohort().evaluation.successes.shape
    (30, 360)
    """
    return Cohort.drawn(joined_layout(), benchmark_items(seed), true_profiles(seed), seed)
