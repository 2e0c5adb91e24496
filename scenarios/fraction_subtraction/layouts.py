"""Layouts of skills that are all needed: each pupil applies a skill with its own probability."""

from ...layouts import (
    Bias,
    Capability,
    Derived,
    Layout,
    MetaFeature,
    Noise,
    Prior,
    Spread,
    Success,
)
from ...linking import guessing, logistic, mixture, presence, product
from ...linking.expression import Expr
from ..pooling import normal

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
"""By label, what they are."""

_RARE = Prior("Beta", alpha=1, beta=9)


def column(skill: str) -> str:
    """Name the column of the items that says whether a skill is needed.

    Examples
    --------
    >>> column("QT4")
    'needed[QT4]'
    """
    return f"needed[{skill}]"


def nida_layout() -> Layout:
    r"""Return the layout of independent skills, each with a probability of being applied.

    .. math:: g + (1 - g)(1 - s) \prod_k \mu(\pi_k, q_k)

    The product is the item response of the NIDA model, written for a pupil's own probabilities
    :math:`\pi_k` instead of those of two classes; guesses g and slips s are the pupil's, too, and
    not the items'. Priors of the probabilities are uniform.

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
    r"""Return the layout of skills that scatter about the pupil's general level.

    .. math:: \pi_k = \sigma(\theta_k), \quad \theta_k \sim \mathrm{Normal}(\lambda, 4)

    Skills are in log-odds of being applied. Their spread is wide, so that most skills are either
    there or not, as the DINA and NIDA models have it; the general level says what to expect of a
    skill that the answers tell nothing about. Each pupil stands alone; `population_layout` fits all
    together, and says when to take which.

    Notes
    -----
    Chosen among forms by Brier scores of held-out items of 60 pupils, and by how many converge at
    once. With guesses and slips of prior Beta(1, 4): spreads of 2, 4 and 8 score 0.135, 0.126 and
    0.123; independent skills 0.144; Beta priors about a level, worth 0.5 to 5 answers, 0.126 to
    0.141, but they diverged. With Beta(1, 9): spreads of 4 and 8 score 0.121 and 0.120, and 58 and
    54 pupils converge. These scores chose the layout, so they flatter it a little; logistic
    regression scores 0.135, the pupil's mean 0.162.

    Examples
    --------
    >>> print(recommended_layout().nodes["skillLevel"].prior)
    Prior('Normal', mu=generalLevel, sigma=4)
    """
    general = Capability("generalLevel", prior=Prior("Normal", mu=0, sigma=4), about="log-odds")
    level = Capability(
        "skillLevel",
        prior=Prior("Normal", mu=general, sigma=4),
        labels=tuple(SKILLS),
        dim="skill",
        about="log-odds of applying it",
    )
    return Layout("fraction-subtraction", _answer(Derived("mastery", logistic(level))))


def population_layout() -> Layout:
    r"""Return the recommended layout with pupils about a usual one, and items that differ.

    .. math:: \theta_{jk} \sim \mathrm{Normal}(\lambda_j + \beta_k, \tau), \quad
        \lambda_j \sim \mathrm{Normal}(0, \omega)

    Skill k is as easy as all pupils' answers say, :math:`\beta_k`; how far skills scatter about a
    pupil's level, and levels about the usual one, is inferred. Guesses and slips are the items'
    instead of the pupil's.

    Notes
    -----
    *When to take it:* nearly always where all pupils answered the same short test: twenty answers
    say little of eight skills, and the other pupils' answers the rest. Of cells held out the Brier
    score is 0.107 instead of 0.127, of whole problems 0.123 instead of 0.128. *When not:* for a
    pupil of whom one wants to know what its answers alone say, and for a single pupil.

    Compared on held-out cells of one split: items with guesses and slips of their own, a
    four-parameter item response without skills, a fixed spread of the skills and none.

    Examples
    --------
    >>> print(population_layout().nodes["skillLevel"].prior)
    Prior('Normal', mu=generalLevel + skillEase, sigma=skillSpread)
    """
    wide, labels = Prior("HalfNormal", sigma=4), tuple(SKILLS)
    general = Capability(
        "generalLevel", prior=normal(0, Spread("generalSpread", prior=wide)), about="log-odds"
    )
    easy = Bias("skillEase", per="population", prior=normal(0, 4), labels=labels, dim="skill")
    level = Capability(
        "skillLevel",
        prior=normal(general + easy, Spread("skillSpread", prior=wide)),
        labels=labels,
        dim="skill",
        about="log-odds of applying it",
    )
    mastery = Derived("mastery", logistic(level))
    return Layout("fraction-subtraction-population", _answer(mastery, per="item"))


LAYOUTS = {"NIDA layout": nida_layout, "recommended layout": recommended_layout}
"""By the name under which a study shows them."""


def _answer(mastery: Expr, per: str = "subject") -> Success:
    needed = MetaFeature("needed", levels=(0, 1), labels=tuple(SKILLS), dim="skill")
    slips, guesses = (Noise(name, per=per, prior=_RARE) for name in ("slips", "guesses"))
    knows = Derived("knows", product(presence(mastery, needed), over="skill"))
    return Success("answer", guessing(mixture(knows, by=slips, toward=0.0), chance=guesses))
