"""Fraction subtraction: 536 pupils on 20 problems, each of which needs several of eight skills."""

import itertools
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit, logsumexp

from ..common.errors import DataError
from ..evaluations.evaluation import Evaluation
from ..inference.fit import Fit
from ..layouts import (
    Capability,
    Derived,
    Effect,
    Layout,
    MetaFeature,
    Noise,
    Prior,
    Spread,
    Success,
)
from ..linking import guessing, logistic, mixture, presence, product
from ..linking.expression import Expr
from .figures import Figure, Reproduction
from .files import Files
from .pooling import normal
from .scenario import Cohort, Scenario

SKILLS = {
    "QT1": "write a whole number as a fraction",
    "QT2": "separate the whole number from the fraction",
    "QT3": "simplify before subtracting",
    "QT4": "find a common denominator",
    "QT5": "borrow from the whole number",
    "QT6": "borrow in columns to subtract the second numerator",
    "QT7": "subtract numerators",
    "QT8": "reduce the answer to its simplest form",
}
"""Descriptions of the skills, by label."""
_RARE = Prior("Beta", alpha=1, beta=9)


def column(skill: str) -> str:
    """Return the name of the items' column that marks whether a skill is needed.

    Examples
    --------
    >>> column("QT4")
    'needed[QT4]'
    """
    return f"needed[{skill}]"


def nida_layout() -> Layout:
    r"""Return the layout of independent skills, each with a probability of being applied.

    .. math:: g + (1 - g)(1 - s) \prod_k \mu(\pi_k, q_k)

    The product is the item response of the NIDA model with a pupil's probabilities :math:`\pi_k`
    instead of those of two classes. Guesses g and slips s belong to the pupil, not to the items.
    Priors of the probabilities are uniform.

    References
    ----------
    Junker and Sijtsma (2001), section 3, the NIDA model.

    Examples
    --------
    >>> nida_layout().nodes["mastery"].labels[:3]
    ('QT1', 'QT2', 'QT3')
    """
    mastery = Capability("mastery", low=0, high=1, labels=tuple(SKILLS), dim="skill")
    return Layout("fraction-subtraction-nida", _answer(mastery))


def recommended_layout() -> Layout:
    r"""Return the layout of skills that vary about the pupil's general level.

    .. math:: \pi_k = \sigma(\theta_k), \quad \theta_k \sim \mathrm{Normal}(\lambda, 4)

    Skills are log-odds of being applied. Their spread is wide, so that a pupil has most skills
    either nearly always or nearly never, as in the DINA and NIDA models. The general level
    determines the expectation for a skill without evidence. Each pupil is fitted separately;
    `population_layout` fits all together, and its notes compare the two.

    Notes
    -----
    The form was chosen by Brier scores of held-out items of 60 pupils, and by the number of pupils
    that converge in the first attempt. With the prior Beta(1, 4) of guesses and slips, spreads of
    2, 4 and 8 have scores of 0.135, 0.126 and 0.123, independent skills 0.144, and Beta priors
    about a level with the weight of 0.5 to 5 answers 0.126 to 0.141, but these diverged. With
    Beta(1, 9), spreads of 4 and 8 have 0.121 and 0.120, and 58 and 54 pupils converge. Since these
    scores were used for the choice, they are slightly too good; logistic regression has 0.135, the
    pupil's mean 0.162.

    Examples
    --------
    >>> print(recommended_layout().nodes["skillLevel"].prior)
    Prior('Normal', mu=generalLevel, sigma=4)
    """
    general = Capability("generalLevel", prior=Prior("Normal", mu=0, sigma=4), about="log-odds")
    mastery = _mastery(Prior("Normal", mu=general, sigma=4))
    return Layout("fraction-subtraction", _answer(mastery))


def population_layout() -> Layout:
    r"""Return the recommended layout for a population of pupils, with guesses and slips of items.

    .. math:: \theta_{jk} \sim \mathrm{Normal}(\lambda_j + \beta_k, \tau), \quad
        \lambda_j \sim \mathrm{Normal}(0, \omega)

    The ease :math:`\beta_k` of skill k is estimated from all pupils' answers. The spreads of skills
    about a pupil's level, and of levels, are inferred. Guesses and slips belong to the items
    instead of the pupil.

    Notes
    -----
    *Use this layout* in nearly all cases in which all pupils answered the same short test: twenty
    answers are not very informative about eight skills, and the answers of other pupils add
    information. The Brier score of held-out cells is 0.107, compared with 0.127 for the recommended
    layout, and that of held-out problems 0.123, compared with 0.128. *Do not use it* for a single
    pupil, or if the profile should depend only on the pupil's own answers.

    The following forms were compared on held-out cells of one split: items with guesses and slips,
    a four-parameter item response without skills, a fixed spread of the skills, and none.

    Examples
    --------
    >>> print(population_layout().nodes["skillLevel"].prior)
    Prior('Normal', mu=generalLevel + skillEase, sigma=skillSpread)
    """
    wide = Prior("HalfNormal", sigma=4)
    levels = normal(0, Spread("generalSpread", prior=wide))
    general = Capability("generalLevel", prior=levels, about="log-odds")
    easy = Effect("skillEase", prior=normal(0, 4), labels=tuple(SKILLS), dim="skill")
    mastery = _mastery(normal(general + easy, Spread("skillSpread", prior=wide)))
    return Layout("fraction-subtraction-population", _answer(mastery, per="item"))


LAYOUTS = {"NIDA layout": nida_layout, "recommended layout": recommended_layout}
"""Layouts by the names that a study shows."""


def _mastery(prior: Prior) -> Derived:
    """Return the probability of applying each skill, from its level in log-odds."""
    about, labels = "log-odds of applying it", tuple(SKILLS)
    level = Capability("skillLevel", prior=prior, labels=labels, dim="skill", about=about)
    return Derived("mastery", logistic(level))


def _answer(mastery: Expr, per: str = "subject") -> Success:
    needed = MetaFeature("needed", levels=(0, 1), labels=tuple(SKILLS), dim="skill")
    slips, guesses = (Noise(name, per=per, prior=_RARE) for name in ("slips", "guesses"))
    knows = Derived("knows", product(presence(mastery, needed), over="skill"))
    return Success("answer", guessing(mixture(knows, by=slips, toward=0.0), chance=guesses))


FILES = Files("fraction_subtraction")


def load(folder: Path | None = None) -> Evaluation:
    """Read the real answers, and the skills that each problem needs.

    Parameters
    ----------
    folder : Path, optional
        Folder of the two files, or a folder with them in its folder ``fraction_subtraction``
        (default: the folder in the environment variable ``MEASUREMENT_LAYOUTS_DATA``). They are not
        offered for download, since the source has them in a file of R.

    Returns
    -------
    Evaluation
        536 subjects and 20 items with the columns ``needed[QT1]`` to ``needed[QT8]``, 0 or 1.

    Raises
    ------
    DataError
        When a file does not exist, or is not the published one.

    References
    ----------
    Tatsuoka (1984); data of the R package CDM, which have the licence GPL.
    """
    paths = FILES.find(folder)
    items = pd.read_csv(paths["qmatrix.csv"], index_col="item")[list(SKILLS)].rename(columns=column)
    answers = pd.read_csv(paths["responses_wide.csv"], index_col="person")
    return Evaluation.from_wide(answers.rename(index=lambda pupil: f"pupil-{pupil:03d}"), items)


PUPILS = 150


def battery() -> pd.DataFrame:
    """Make 20 problems: each skill alone, eight pairs and four triples.

    Returns
    -------
    DataFrame
        Items with the columns of the real battery. Unlike in the real battery, each skill is also
        needed alone.

    Examples
    --------
    >>> battery().sum(axis=1).value_counts().sort_index().to_dict()
    {1: 8, 2: 8, 3: 4}
    """
    numbers, count = np.arange(20), len(SKILLS)
    needed = np.zeros((20, count), dtype=int)
    needed[numbers, numbers % count] = 1
    needed[numbers[8:16], (numbers[8:16] + 1) % count] = 1
    for further in (2, 4):
        needed[numbers[16:], numbers[16:] - 16 + further] = 1
    names = pd.Index([f"problem-{number + 1:02d}" for number in numbers], name="item")
    return pd.DataFrame(needed, names, [column(skill) for skill in SKILLS])


def true_profiles(seed: int = 1, pupils: int = PUPILS) -> pd.DataFrame:
    """Draw pupils from the prior of the recommended layout.

    Parameters
    ----------
    seed : int
        Seed of the draws.
    pupils : int
        Number of pupils.

    Returns
    -------
    DataFrame
        Profiles, with one row per pupil and one column per profile element.

    Examples
    --------
    >>> true_profiles().iloc[0, [0, 1, -1]].round(2).to_dict()
    {'generalLevel': -2.99, 'skillLevel[QT1]': -7.16, 'guesses': 0.14}
    """
    rng = np.random.default_rng([seed, pupils])
    general = rng.normal(0, 4, pupils)
    names = [f"pupil-{number:03d}" for number in range(1, pupils + 1)]
    profiles = pd.DataFrame({"generalLevel": general}, names)
    levels = general[:, None] + rng.normal(0, 4, (pupils, len(SKILLS)))
    profiles[[f"skillLevel[{skill}]" for skill in SKILLS]] = levels
    return profiles.assign(slips=rng.beta(1, 9, pupils), guesses=rng.beta(1, 9, pupils))


def simulated_cohort(seed: int = 1, pupils: int = PUPILS) -> Cohort:
    """Simulate pupils on the battery of 20 problems, under the recommended layout.

    Parameters
    ----------
    seed : int
        Seed of profiles and answers.
    pupils : int
        Number of pupils.

    Returns
    -------
    Cohort
        Outcomes and true profiles.

    Examples
    --------
    >>> simulated_cohort().evaluation
    <Evaluation: 150 subjects, 20 items, 3000 trials, properties needed[QT1], needed[QT2], ...>
    """
    return Cohort.drawn(recommended_layout(), battery(), true_profiles(seed, pupils), seed)


def masteries(fit: Fit) -> pd.DataFrame:
    """Average the probability of applying a skill over the posterior.

    Parameters
    ----------
    fit : Fit
        Fit of one of this scenario's layouts.

    Returns
    -------
    DataFrame
        Probabilities with one row per pupil and one column per skill. The mean over pupils is a
        skill's prevalence if each pupil who has it always applies it.

    Raises
    ------
    DataError
        When the layout has no skills.
    """
    draws = fit.posterior
    if not {"mastery", "skillLevel"} & set(draws):
        raise DataError(
            f"the layout {fit.layout.name} has no skills; fit one of this scenario's layouts"
        )
    mastery = draws["mastery" if "mastery" in draws else "skillLevel"]
    if "mastery" not in draws:
        mastery = mastery.copy(data=expit(mastery.to_numpy()))
    means = mastery.mean(("chain", "draw")).transpose("subject", "skill").to_numpy()
    return pd.DataFrame(means, pd.Index(fit.subjects, name="subject"), list(SKILLS))


_STEPS, _SETTLED = 2000, 1e-3  # largest number of steps; smallest gain of a step, in nats
_INSIDE = 1e-4  # least distance of slips and guesses from 0 and 1


class Dina(NamedTuple):
    """Estimates of the DINA model.

    Attributes
    ----------
    masteries : DataFrame
        Probability that a pupil (row) has a skill (column).
    items : DataFrame
        ``guess`` and ``slip`` of each item.
    log_likelihood : float
        Log-likelihood of the estimates, in nats.
    """

    masteries: pd.DataFrame
    items: pd.DataFrame
    log_likelihood: float


def dina(answers: pd.DataFrame, needed: pd.DataFrame) -> Dina:
    r"""Fit the DINA model by expectation and maximisation.

    .. math:: P(X_{ij} = 1) = (1 - s_j)^{\eta_{ij}} g_j^{1 - \eta_{ij}}, \quad
        \eta_{ij} = \prod_k \alpha_{ik}^{q_{jk}}

    Unlike a measurement layout of single pupils, the model pools all pupils: items have slips and
    guesses, and the frequencies of all sets of skills are estimated. It is therefore an independent
    estimate with which profiles can be compared.

    Parameters
    ----------
    answers : DataFrame
        Answers, 0 or 1, with one row per pupil and one column per item.
    needed : DataFrame
        Needed skills, 0 or 1, with one row per item and one column per skill.

    Returns
    -------
    Dina
        Estimates. Sets of skills that solve the same items cannot be distinguished and have equal
        shares.

    References
    ----------
    Junker and Sijtsma (2001), section 2, the DINA model.

    Examples
    --------
    >>> needed = pd.DataFrame({"add": [1, 1, 0, 0], "carry": [0, 0, 1, 1]})
    >>> answers = pd.DataFrame([[1, 1, 0, 0], [1, 1, 1, 1]] * 4 + [[0] * 4] * 2)
    >>> dina(answers, needed).masteries.mean().round(2).to_dict()
    {'add': 0.8, 'carry': 0.4}
    """
    right, needs = answers.to_numpy(float), needed.to_numpy(float)
    sets = np.array(list(itertools.product((0.0, 1.0), repeat=needs.shape[1])))
    able = (sets @ needs.T >= needs.sum(axis=1)).astype(float)
    share = np.full(len(sets), 1 / len(sets))
    items = pd.DataFrame(0.2, needed.index, ["guess", "slip"])
    before = -np.inf
    for _ in range(_STEPS):
        guess, slip = items.to_numpy().T
        chance = able * (1 - slip) + (1 - able) * guess
        joint = right @ np.log(chance).T + (1 - right) @ np.log1p(-chance).T + np.log(share)
        total = logsumexp(joint, axis=1, keepdims=True)
        weight, likelihood = np.exp(joint - total), float(total.sum())
        if likelihood - before < _SETTLED:
            break
        before = likelihood
        share = np.maximum(weight.mean(axis=0), np.finfo(float).tiny)
        knows = weight @ able
        for name, outcome, pupils in (("slip", 1 - right, knows), ("guess", right, 1 - knows)):
            rate = (outcome * pupils).sum(axis=0) / np.maximum(pupils.sum(axis=0), _INSIDE)
            items[name] = np.clip(rate, _INSIDE, 1 - _INSIDE)
    masteries = pd.DataFrame(weight @ sets, answers.index, needed.columns)
    return Dina(masteries, items, likelihood)


SCENARIO = Scenario(
    name="fraction-subtraction",
    title="Fraction subtraction: 536 pupils on 20 problems that need up to five of eight skills",
    source="Tatsuoka (1984)",
    layouts=LAYOUTS,
    load=load,
    simulate=simulated_cohort,
    columns=tuple(f"needed[{skill}]" for skill in SKILLS),
    population=population_layout,
)


def reproduce(scenario: Scenario, data: Path | None, published: Path | None) -> Reproduction:
    """Compare masteries with those of the DINA model, and forecasts with those of baselines."""
    from ..inference.fitting import fit
    from .running import held_out_figure

    evaluation = scenario.load(data)
    ours = masteries(fit(recommended_layout(), evaluation, seed=1, progressbar=False))
    pooled = dina(evaluation.successes, evaluation.items[list(scenario.columns)]).masteries
    theirs = pooled.loc[ours.index].set_axis(ours.columns, axis=1)
    skills = pd.DataFrame({"profiles": ours.mean(), "dina": theirs.mean()}).rename_axis("skill")
    together = np.corrcoef(ours.to_numpy().ravel(), theirs.to_numpy().ravel())[0, 1]
    name = "correlation of masteries with the DINA model"
    scored, scores = held_out_figure(scenario, evaluation, "recommended layout")
    return Reproduction(
        [Figure(f"{name}, pupils and skills together", float(together), ">=", 0.8), scored],
        {"masteries": skills, "Brier scores on held-out items": scores},
    )
