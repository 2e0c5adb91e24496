"""Three populations by hand in PyMC 6 with nutpie, and the exam by Bambi.

Arrays are dense, subjects x items, every cell one trial. Effects of items are `pm.ZeroSumNormal`.
Values of subjects, and those of items, are centred (drawn about their mean) or not (drawn standard
normal, then shifted and scaled): three `FORMS`, of which the best counts. Every prior is written
here, so that a layout can say the same model.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import nutpie
import pandas as pd
import pymc as pm
import pytensor.tensor as pt
from arviz_stats.base import array_stats
from population_data import Cohort, standardised

SAMPLING = {"chains": 4, "tune": 1000, "draws": 1000}
CORES = 2
FORMS = ("centred", "items centred", "not centred")
"""Subjects and items centred, items alone, neither."""


@dataclass(frozen=True, eq=False)
class Sampled:
    """What a rival found, and how long it sampled.

    Attributes
    ----------
    seconds : float
        Of sampling alone, everything compiled before.
    shared : DataFrame
        One row per value that belongs to no subject: ``mean``, ``sd``, ``ess`` (bulk) and ``mcse``
        (of the mean).
    divergences : int
        Draws in which the sampler's steps diverged.
    """

    seconds: float
    shared: pd.DataFrame
    divergences: int

    @property
    def least(self) -> float:
        """Bulk effective sample size of the shared value that has the smallest."""
        return float(self.shared["ess"].min())

    @property
    def per_second(self) -> float:
        """Effective draws of that value, per second."""
        return self.least / self.seconds


def exam(cohort: Cohort, *, form: str) -> pm.Model:
    r"""Rasch model of the students, whose abilities scatter about a line in their tests.

    .. math:: \mathrm{logit}\, p_{si} = a_s + e_i, \quad
        a_s \sim \mathrm{Normal}(\mu + w z_s, \sigma), \quad e \sim \mathrm{ZeroSumNormal}(\tau)
    """
    tests = standardised(cohort.covariates["tests"]).to_numpy()
    with pm.Model() as model:
        mean, weight = pm.Normal("mean", 0, 1), pm.Normal("weight", 0, 1)
        spread, ease_spread = pm.HalfNormal("spread", 1), pm.HalfNormal("easeSpread", 1)
        ability = _subjects("ability", mean + weight * tests, spread, len(tests), form)
        ease = _items("ease", ease_spread, cohort, form)
        _answers(cohort, logit_p=ability[:, None] + ease)
    return model


def fractions(cohort: Cohort, *, form: str) -> pm.Model:
    r"""One ability, skills of different difficulty that are all needed, an ease of each problem.

    .. math:: \mathrm{logit}\, p_{si} = \mathrm{logit} \prod_{k \in i} \sigma(a_s - d_k) + e_i,
        \quad a_s \sim \mathrm{Normal}(\mu, \sigma), \quad d_k \sim \mathrm{Normal}(0, 1), \quad
        e \sim \mathrm{ZeroSumNormal}(\tau)
    """
    needed = cohort.evaluation.items[list(cohort.demands)].to_numpy(dtype=float)
    with pm.Model() as model:
        mean, difficulty = pm.Normal("mean", 0, 3), pm.Normal("difficulty", 0, 1, shape=8)
        spread, ease_spread = pm.HalfNormal("spread", 3), pm.HalfNormal("easeSpread", 1)
        ability = _subjects("ability", mean, spread, len(cohort.trials), form)
        ease = _items("ease", ease_spread, cohort, form)
        applied = -pt.softplus(difficulty - ability[:, None])
        knows = pt.dot(applied, needed.T)  # logarithm of the chance to apply all that are needed
        _answers(cohort, logit_p=knows - pt.log1mexp(knows) + ease)
    return model


def animal_ai(cohort: Cohort, *, form: str) -> pm.Model:
    r"""Seven values of each agent, all of them pooled, and an ease of each task.

    The recommended layout of the scenario. The ease, in units of the arena, stands inside the
    margin of navigation.
    """
    items, count = cohort.evaluation.items, len(cohort.trials)
    distance, behind, side = (
        items[name].to_numpy(dtype=float) for name in ("distance", "rewardBehind", "XPos")
    )
    with pm.Model() as model:

        def pooled(name: str, at: float, about: float, scatter: float) -> pt.TensorVariable:
            mean = pm.Normal(f"{name}Mean", at, about)
            spread = pm.HalfNormal(f"{name}Spread", scatter)
            return _subjects(name, mean, spread, count, form)[:, None]

        navigation, visual = pooled("navigation", 30, 20, 20), pooled("visual", 4, 3, 3)
        turning, bias = pooled("turning", 5, 5, 5), pooled("bias", 0, 5, 5)
        steep, sharp = pooled("steepness", -1.9, 0.5, 0.5), pooled("sharpness", 0.5, 0.5, 0.5)
        noise = pm.math.sigmoid(pooled("noise", -2.2, 1, 1))
        ease = _items("ease", pm.HalfNormal("easeSpread", 10), cohort, form)
        reach = distance + turning * behind - bias * side
        navigate = pm.math.sigmoid(pt.exp(steep) * (navigation - reach + ease))
        see = pm.math.sigmoid(pt.exp(sharp) * (visual - items["smallness"].to_numpy()))
        chance = (1 - noise) * navigate * see + noise / 2
        _answers(cohort, p=pt.clip(chance, 1e-12, 1 - 1e-12))
    return model


type Build = Callable[..., pm.Model]

MODELS: dict[str, Build] = {"exam": exam, "fractions": fractions, "animal-ai": animal_ai}


def sampled(
    build: Build,
    cohort: Cohort,
    *,
    form: str,
    seed: int,
    sampling: Mapping[str, int] = SAMPLING,
) -> Sampled:
    """Compile a model by nutpie, then sample it and take the time."""
    model = build(cohort, form=form)
    compiled = nutpie.compile_pymc_model(model)
    start = time.perf_counter()
    trace = nutpie.sample(compiled, **sampling, cores=CORES, seed=seed, progress_bar=False)
    seconds = time.perf_counter() - start
    posterior, subjects = trace["posterior"], len(cohort.trials)
    named = {
        name: values.to_numpy()
        for name, values in posterior.data_vars.items()
        if not name.endswith("_raw") and subjects not in values.shape[2:]
    }
    diverging = int(trace["sample_stats"]["diverging"].sum())
    return Sampled(seconds, shared_values(named), diverging)


def exam_by_bambi(cohort: Cohort, *, seed: int, sampling: Mapping[str, int] = SAMPLING) -> Sampled:
    """Fit Bambi's mixed logistic model of the exam, as its defaults are but for the priors.

    Its effects of items are independent instead of adding up to zero, so that the intercept is
    another value: it is left out of ``shared``.
    """
    import bambi  # no dependency of the project: pip install bambi

    names = cohort.evaluation.successes.rename_axis(index="student", columns="item")
    long = names.stack().rename("solved").reset_index()
    tests = standardised(cohort.covariates["tests"])
    long["tests"] = long["student"].map(tests)

    def about_zero() -> bambi.Prior:
        return bambi.Prior("Normal", mu=0, sigma=bambi.Prior("HalfNormal", sigma=1))

    usual = bambi.Prior("Normal", mu=0, sigma=1)
    priors = {"Intercept": usual, "tests": usual}
    priors |= {"1|student": about_zero(), "1|item": about_zero()}
    model = bambi.Model(
        "solved ~ tests + (1|student) + (1|item)", long, family="bernoulli", priors=priors
    )
    trace = model.fit(**sampling, cores=CORES, random_seed=seed, progressbar=False)
    posterior = trace["posterior"]
    same = {"weight": "tests", "spread": "1|student_sigma", "easeSpread": "1|item_sigma"}
    named = {name: posterior[theirs].to_numpy() for name, theirs in same.items()}
    diverging = int(trace["sample_stats"]["diverging"].sum())
    return Sampled(float(posterior.attrs["sampling_time"]), shared_values(named), diverging)


def shared_values(draws: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Summarise values by name, each of shape (chain, draw) or (chain, draw, place)."""
    rows = {}
    for name, values in draws.items():
        several = values.ndim > 2
        for place, one in enumerate(np.moveaxis(np.atleast_3d(values), 2, 0)):
            element = np.ascontiguousarray(one)
            rows[f"{name}[{place}]" if several else name] = {
                "mean": float(element.mean()),
                "sd": float(element.std(ddof=1)),
                "ess": float(array_stats.ess(element, method="bulk")),
                "mcse": float(array_stats.mcse(element, method="mean")),
            }
    return pd.DataFrame.from_dict(rows, "index")


def _subjects(
    name: str, mean: pt.TensorVariable, spread: pt.TensorVariable, count: int, form: str
) -> pt.TensorVariable:
    if form == "centred":
        return pm.Normal(name, mean, spread, shape=count)
    return mean + spread * pm.Normal(f"{name}_raw", 0, 1, shape=count)


def _items(name: str, spread: pt.TensorVariable, cohort: Cohort, form: str) -> pt.TensorVariable:
    count = cohort.trials.shape[1]
    if form != "not centred":
        return pm.ZeroSumNormal(name, sigma=spread, shape=count)
    return pm.Deterministic(name, spread * pm.ZeroSumNormal(f"{name}_raw", sigma=1, shape=count))


def _answers(cohort: Cohort, **chance: pt.TensorVariable) -> None:
    pm.Bernoulli("answer", observed=cohort.successes.astype("int8"), **chance)
