"""GSM8K: 44 language models on 1,319 school word problems."""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from ..common.errors import DataError
from ..evaluations.evaluation import Evaluation
from ..inference.fit import Fit
from ..layouts import Capability, Derived, Effect, Layout, MetaFeature, Noise, Prior, Slope, Success
from ..linking import logistic, mixture
from ..linking.expression import Expr
from .figures import Figure, Reproduction
from .files import Files
from .pooling import item_ease, normal, pooled
from .scenario import Cohort, Scenario

_STEPS = "lines of the worked solution"
STEPS = MetaFeature("steps", low=0, high=12, unit="step", about=_STEPS)
_MARKED = "calculations marked in a solution"
MARKED = MetaFeature("markedSteps", low=0, high=12, unit="step", about=_MARKED)
_DIGITS = "log10 of 1 + the largest number"
DIGITS = MetaFeature("digits", low=0, high=8, unit="digit", about=_DIGITS)
DOUBLINGS = MetaFeature("doublings", low=0, high=8, about="log2 of the words")


def plain_layout() -> Layout:
    """Return the layout of two capabilities: calculations marked in the solution, and numbers.

    This is `recommended_layout` without reading, and with steps counted by the marks, which some
    solutions lack.

    Examples
    --------
    >>> [latent.name for latent in plain_layout().latents][:2]
    ['planningAbility', 'planningSlope']
    """
    return Layout("gsm8k-plain", Success("answer", _but_for_slips(_plan(MARKED) * _calculate())))


def recommended_layout() -> Layout:
    r"""Return the layout of three capabilities that are all needed, and of slips.

    .. math:: (1 - \nu) \, \sigma(a_1 (\theta_1 - steps)) \, \sigma(a_2 (\theta_2 - digits)) \,
        \sigma(a_3 (\theta_3 - doublings))

    The digits are :math:`\log_{10}(1 + x)` of the largest number x, the doublings :math:`\log_2` of
    the words. Priors of capabilities are centred at the hardest problems and extend far beyond,
    since most models fail at few problems. A slip turns any solution into a wrong answer. Each
    model is fitted separately; `population_layout` fits all together, and its notes compare the
    two.

    Notes
    -----
    Forms were compared on ten models and all problems by leave-one-out (elpd relative to this
    layout; standard errors of the difference from the best are between 2 and 18). Without reading:
    -90. Steps counted by marks instead of lines: -54; both: -160. One ability for a weighted sum of
    the demands: -19. Without numbers: -10, with two latents fewer for each model. Without slips:
    +5; they are kept for models whose answers cannot be read.

    Examples
    --------
    >>> [latent.name for latent in recommended_layout().latents if latent.kind == "capability"]
    ['planningAbility', 'calculationAbility', 'readingAbility']
    """
    return Layout("gsm8k", Success("answer", _but_for_slips(_plan(STEPS) * _calculate() * _read())))


def population_layout() -> Layout:
    r"""Return a layout for a population of models, with an ease of each problem.

    .. math:: \mathrm{logit}(P) = \theta_s - w_1 (steps - 3) - w_2 (digits - 2)
        - w_3 (doublings - 6) + e_i

    with an ability :math:`\theta_s` of model s, in log-odds of a correct answer to a problem of
    three steps, numbers below one hundred and 64 words, and the ease :math:`e_i` of problem i. The
    weights :math:`w_k` of the demands are the same for all models.

    Notes
    -----
    *Use this layout* to forecast cells of a table of models and problems, for models that have
    answered few problems, and to compare abilities: the Brier score of held-out cells is 0.067,
    compared with 0.103 for the recommended layout. New problems are forecast equally well (0.0975
    and 0.0974 in ten splits): steps, digits and words explain only a small part of the difficulty
    of a problem, and the ease of a new problem is unknown.

    Forms were compared on the training problems of one split of 400 problems, by problems and by
    cells held out of them (Brier scores; those of the recommended layout are 0.0938 and 0.1043).
    This layout: 0.0919 and 0.0674; with demands from zero: 0.0924 and 0.0674. Three capabilities
    that are all needed, with slips inside the log-odds: 0.0973 and 0.0676; without slips: 0.0934
    and 0.0675. The same with a planning capability of each model and the others shared by all: with
    slips 0.0980 and 0.0677, with slips applied last 0.0951 and 0.0674, without slips 0.0930 and
    0.0675. The outcomes of 44 models do not distinguish three capabilities: the spreads of two of
    them may be zero, that of the third trades with its slope, and chains do not converge. Demands
    are measured from typical values, because otherwise the mean ability trades with the weights.

    Examples
    --------
    >>> [latent.name for latent in population_layout().profile]
    ['solvingAbility']
    """
    margin: Expr = pooled("solvingAbility", 2, 2) + item_ease(2)
    for demand, typical in ((STEPS, 3), (DIGITS, 2), (DOUBLINGS, 6)):
        weight = Effect(f"{demand.name}Weight", prior=normal(0.5, 0.5))
        margin = margin - weight * (demand - typical)
    return Layout("gsm8k-population", Success("answer", logistic(margin)))


LAYOUTS = {"plain layout": plain_layout, "recommended layout": recommended_layout}
"""Layouts by the names that a study shows; no layout has been published."""


def _plan(steps: MetaFeature) -> Expr:
    return _able("planning", steps, normal(10, 5), -0.7)


def _calculate() -> Expr:
    return _able("calculation", DIGITS, normal(7, 3), 0)


def _read() -> Expr:
    return _able("reading", DOUBLINGS, normal(9, 3), 0)


def _able(name: str, demand: MetaFeature, prior: Prior, steep: float) -> Expr:
    """Return the logistic probability of a capability minus its demand."""
    unit = None if demand.unit is None else str(demand.unit)
    ability = Capability(f"{name}Ability", prior=prior, unit=unit)
    slope = Slope(f"{name}Slope", prior=Prior("LogNormal", mu=steep, sigma=0.5))
    return Derived(name, logistic(ability - demand, slope))


def _but_for_slips(solved: Expr) -> Expr:
    slips = Noise("slips", prior=Prior("Beta", alpha=1, beta=9))
    answered: Expr = mixture(solved, by=slips, toward=0.0)
    return answered


FILES = Files("gsm8k")
SPELLING = {
    "DeepSeek-Coder-V2-0724": "deepseek-v2-coder-0724",
    "Llama-3.1-405B-Instruct-Turbo": "Llama-3.1-405B-Inst-fp8@together",
    "Meta-Llama-3.1-405B-Instruct@hyperbolic": "Llama-3.1-405B-Inst@hyperbolic",
    "deepseek-chat": "deepseek-v2-chat-0628",
    "deepseek-coder": "deepseek-v2-coder-0614",
    "gemma-2-27b-it@together": "gemma-2-27b-it",
}
"""Names of six models in the outcomes, and in the table of published accuracies."""


def load(folder: Path | None = None) -> Evaluation:
    """Read the real outcomes and the properties of the problems.

    Parameters
    ----------
    folder : Path, optional
        Folder of the three files, or a folder with them in its folder ``gsm8k`` (default: the
        folder in the environment variable ``MEASUREMENT_LAYOUTS_DATA``). They are not offered for
        download: the outcomes were scored from the models' answers.

    Returns
    -------
    Evaluation
        44 subjects and 1,319 items with the columns of `properties`. An answer without a number is
        a failure, as in the source's scoring. One model was run on 681 items and has 0 trials on
        the others.

    Raises
    ------
    DataError
        When a file does not exist, or is not the published one.

    References
    ----------
    Cobbe et al. (2021) for the problems (MIT licence); ZeroEval for the answers (Apache-2.0).
    """
    paths = FILES.find(folder)
    raw = pd.read_csv(paths["item_features.csv"], index_col="item")
    outcomes = pd.read_parquet(paths["outcomes.parquet"])
    columns = outcomes[["model", "item", "success"]]
    return Evaluation.from_long(columns, properties(raw), subject="model", outcome="success")


def properties(raw: pd.DataFrame) -> pd.DataFrame:
    r"""Turn counts of a problem into meta-features.

    .. math:: \log_{10}(1 + x) \text{ of the largest number}, \quad \log_2 \text{ of the words}

    Parameters
    ----------
    raw : DataFrame
        Columns ``n_lines`` (lines of the worked solution), ``n_steps`` (calculations marked in it),
        ``max_abs_number`` (largest number in the problem, 0 without one) and ``q_words`` (words).

    Returns
    -------
    DataFrame
        ``steps``, the lines of the worked solution; ``markedSteps``, calculations marked in it, of
        which 18 solutions have none; ``digits``; ``doublings`` of the words; ``words``.

    Examples
    --------
    >>> raw = pd.DataFrame({"n_lines": [3], "n_steps": [0], "max_abs_number": [0.0],
    ...                     "q_words": [32]}, index=["apples"])
    >>> properties(raw)
            steps  markedSteps  digits  doublings  words
    apples      3            0     0.0        5.0     32
    """
    return pd.DataFrame(
        {
            "steps": raw["n_lines"],
            "markedSteps": raw["n_steps"],
            "digits": np.log10(1 + raw["max_abs_number"]),
            "doublings": np.log2(raw["q_words"]),
            "words": raw["q_words"],
        }
    )


def accuracies(folder: Path | None = None) -> pd.Series:
    """Read the accuracies that ZeroEval published, in percent.

    Parameters
    ----------
    folder : Path, optional
        As in `load`.

    Returns
    -------
    Series
        Accuracies of 47 models, indexed by published name. `load` has 44 of them, six of which have
        other names there.

    Raises
    ------
    DataError
        As in `load`.
    """
    rows = json.loads(FILES.find(folder)["reference_gsm.summary.json"].read_text())
    names = pd.Index([row["Model"] for row in rows], name="model")
    return pd.Series([float(row["Acc"]) for row in rows], names, name="published")


ITEMS, SUBJECTS = 400, 16
_SHARES = (0.27, 0.27, 0.2, 0.12, 0.07, 0.04, 0.03)


def battery(seed: int = 1, items: int = ITEMS) -> pd.DataFrame:
    """Simulate counts of problems with two to eight steps; longer problems have more words.

    Parameters
    ----------
    seed : int
        Seed of the counts.
    items : int
        Number of problems.

    Returns
    -------
    DataFrame
        Items with the columns of the real battery.

    Examples
    --------
    >>> battery()[["steps", "digits", "doublings"]].mean().round(1).tolist()
    [3.7, 1.6, 5.4]
    """
    rng = np.random.default_rng([seed, items])  # a different stream from that of the outcomes
    steps = rng.choice(range(2, 9), items, p=_SHARES)
    names = [f"problem-{number:04d}" for number in range(1, items + 1)]
    raw = pd.DataFrame({"n_lines": steps}, names)
    raw["n_steps"] = np.where(rng.random(items) < 0.95, steps, steps - 1)
    raw["max_abs_number"] = np.floor(10 ** rng.gamma(4, 0.4, items))
    raw["q_words"] = np.clip(np.exp2(rng.normal(5 + 0.1 * steps, 0.5)), 12, 200).round()
    return properties(raw)


def true_profiles() -> pd.DataFrame:
    """Return the simulated models: from one that plans six steps to one that plans sixteen.

    Abilities of reading and calculating increase in the same order, and slips decrease.

    Examples
    --------
    >>> true_profiles()[["planningAbility", "slips"]].iloc[[0, -1]].round(2)
              planningAbility  slips
    model-01              6.0   0.12
    model-16             16.0   0.01
    """
    rank = np.linspace(0, 1, SUBJECTS)
    columns = {
        "planningAbility": 6 + 10 * rank,
        "planningSlope": 0.45,
        "calculationAbility": 5 + 6 * rank,
        "calculationSlope": 1.0,
        "readingAbility": 7 + 3 * rank,
        "readingSlope": 1.2,
        "slips": 0.12 - 0.11 * rank,
    }
    return pd.DataFrame(columns, [f"model-{number:02d}" for number in range(1, SUBJECTS + 1)])


def simulated_cohort(seed: int = 1) -> Cohort:
    """Simulate sixteen models on 400 problems, under the recommended layout.

    Parameters
    ----------
    seed : int
        Seed of battery and outcomes.

    Returns
    -------
    Cohort
        Outcomes and true profiles.

    Examples
    --------
    >>> simulated_cohort().evaluation
    <Evaluation: 16 subjects, 400 items, 6400 trials, properties steps, markedSteps, digits, ...>
    """
    return Cohort.drawn(recommended_layout(), battery(seed), true_profiles(), seed)


LONGEST = 8
"""Largest number of steps with which problems were written; some solutions have more lines."""


def horizons(fit: Fit, prob: float = 0.9) -> pd.DataFrame:
    r"""Find the number of steps at which typical problems are solved half of the time.

    .. math:: h = \theta_1 - \frac{1}{a_1} \operatorname{logit} \frac{1}{2 (1 - \nu) \, c \, r}

    where c and r are the probabilities of calculating and reading a problem whose numbers and words
    are the medians of the fitted problems. If these alone fail half of the time in a draw, its
    horizon is minus infinity.

    Parameters
    ----------
    fit : Fit
        Fit of the recommended layout.
    prob : float
        Mass of the equal-tailed interval.

    Returns
    -------
    DataFrame
        Indexed by subject: ``median``, ``low``, ``high`` in steps, ``beyond``, the probability that
        the horizon lies beyond 8 steps, and ``extrapolated``, whether the interval's upper end
        does: what is said about it there rests on the logistic's form and on the prior.

    Raises
    ------
    DataError
        When the fit is of another layout.

    References
    ----------
    Cobbe et al. (2021), whose problems take between 2 and 8 steps.
    """
    if fit.layout.fingerprint != recommended_layout().fingerprint:
        raise DataError(
            f"the fit is of the layout {fit.layout.name}, and horizons follow from the recommended "
            "one; fit gsm8k.recommended_layout()"
        )
    draws = {name: values.stack(all=("chain", "draw")) for name, values in fit.posterior.items()}
    rest = 1 - draws["slips"]
    for ability, feature in (("calculation", "digits"), ("reading", "doublings")):
        margin = draws[f"{ability}Ability"] - float(fit.constants[feature].median())
        rest = rest / (1 + np.exp(-draws[f"{ability}Slope"] * margin))
    needed = np.clip(0.5 / rest, None, 1)
    with np.errstate(divide="ignore"):
        horizon = draws["planningAbility"] - np.log(needed / (1 - needed)) / draws["planningSlope"]
    values = horizon.transpose("subject", "all").to_numpy()
    probs = [0.5, (1 - prob) / 2, (1 + prob) / 2]
    quantiles = np.quantile(values, probs, axis=1, method="nearest")
    index = pd.Index(fit.subjects, name="subject")
    table = pd.DataFrame(quantiles.T, index, ["median", "low", "high"])
    beyond = (values > LONGEST).mean(axis=1)
    return table.assign(beyond=beyond, extrapolated=table["high"] > LONGEST)


SCENARIO = Scenario(
    name="gsm8k",
    title="GSM8K: 44 language models on 1,319 school word problems",
    source="Cobbe et al. (2021); outcomes of ZeroEval",
    layouts=LAYOUTS,
    load=load,
    simulate=simulated_cohort,
    columns=("steps", "digits", "doublings"),
    every=5,
    shares=dict.fromkeys(LAYOUTS, 0.5),
    population=population_layout,
)


def reproduce(scenario: Scenario, data: Path | None, published: Path | None) -> Reproduction:
    """Compare success rates with the published accuracies, and forecasts with baselines."""
    from .running import held_out_figure

    evaluation = scenario.load(data)
    rates = (100 * evaluation.success_rates()).round(2)
    reported = accuracies(data)[[SPELLING.get(model, model) for model in rates.index]]
    table = pd.DataFrame({"obtained": rates, "published": reported.to_numpy()})
    difference = (table["obtained"] - table["published"]).abs()
    scored, scores = held_out_figure(scenario, evaluation, "recommended layout")
    near = int((difference <= 0.3 + 1e-9).sum())
    name = f"models within 0.3 points of the published accuracy, of {len(table)}"
    largest = f"largest difference in points ({difference.idxmax()})"
    figures = [
        Figure(name, near, ">=", 34),
        Figure(largest, float(difference.max()), "<=", 5),
        scored,
    ]
    tables = {"success rates": table, "Brier scores on held-out problems": scores}
    return Reproduction(figures, tables)
