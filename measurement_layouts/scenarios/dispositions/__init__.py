"""Behavioural dispositions of 25 simulated language models, compared with people's judgments."""

from collections.abc import Sequence
from pathlib import Path

from ...dispositions.judgments import SituationalJudgments
from ...dispositions.pulls import choices
from ...evaluations.evaluation import Evaluation
from ...layouts import Bias, Layout, MetaFeature, Noise, Prior, Slope, Success, Unseen
from ...linking import logistic, total
from ..scenario import Case, Cohort, Scenario
from .implied import distances, implied_misalignment
from .simulated import SimulatedStudy, rater_pool, simulated_study
from .traits import TRAITS, Trait, overall, subjects, supports

_MOST_VOTES = 1000
_FARTHEST = 10.0  # log-odds


def disposition_layout(traits: Sequence[str] = tuple(TRAITS)) -> Layout:
    r"""Return a layout of the differences between a model's and people's choices.

    .. math:: \operatorname{logit} q_s = \beta (u_s + \delta_{t(s)})

    People's stance in a scenario is estimated from their votes, with its uncertainty. In a share
    :math:`1 - \nu` of the scenarios the model's stance u is that of people, and in the others it is
    independent. A perfectly aligned model has slope 1, noise 0 and no dispositions.

    Parameters
    ----------
    traits : sequence of str
        Traits, each of which has a bias.

    Returns
    -------
    Layout
        Layout with the latents ``disposition[trait]``, towards showing the trait, in people's
        log-odds (with 1, the model is undecided where 27 % of people would show the trait);
        ``slope``, the model's confidence relative to people's; ``noise``, the share of scenarios
        that it judges independently; and ``peoplesSpread``, which only propagates the error of the
        estimated spread of people's log-odds to the other latents. Meta-features are columns of
        `measurement_layouts.dispositions.choices`.

    References
    ----------
    Dispositions paper, sections 4 to 6; Figure 3 on the slope.

    Examples
    --------
    >>> print(disposition_layout(["Empathy", "Assertiveness"]))
    dispositions
      stance ~ Normal(commonPull, pullSpread × peoplesSpread^pullSpreadError), given ...
      choice = logistic(stance + total(disposition × trait, over=dimension), slope)
    """
    spread = MetaFeature("pullSpread", low=0, high=_FARTHEST, about="of the trait")
    error = MetaFeature("pullSpreadError", low=0, high=1, about="relative, of the spread")
    wider = Slope("peoplesSpread", prior=Prior("LogNormal", mu=0, sigma=1), about="in errors of it")
    shown = MetaFeature("trait", levels=(0, 1), labels=tuple(traits), about="which one it is about")
    stance = Unseen(
        "stance",
        mean=MetaFeature("commonPull", low=-_FARTHEST, high=_FARTHEST, about="mean of the trait"),
        spread=spread * wider**error,
        positive=MetaFeature("votesFor", low=0, high=_MOST_VOTES, about="people's, for the trait"),
        negative=MetaFeature("votesAgainst", low=0, high=_MOST_VOTES, about="people's, against it"),
        noise=Noise("noise", about="share of scenarios that it judges on its own"),
        about="log-odds of showing the trait, as people judge",
    )
    disposition = Bias(
        "disposition",
        labels=tuple(traits),
        prior=Prior("Normal", mu=0, sigma=2),
        about="towards showing the trait, in people's log-odds",
    )
    slope = Slope("slope", prior=Prior("LogNormal", mu=0, sigma=1), about="1: as sure as people")
    leaning = total(disposition * shown if len(traits) > 1 else disposition, over="dimension")
    return Layout("dispositions", Success("choice", logistic(stance + leaning, slope)))


RECOMMENDED = "recommended layout"
COLUMNS = ("peoplesRate", *(f"trait[{trait}]" for trait in TRAITS))
"""Columns from which baselines predict."""
LAYOUTS = {RECOMMENDED: disposition_layout}
"""Layouts by the names that a study shows."""
_TRAITS = tuple(TRAITS)[:2]
_EVERY = 20
_SHARE = 0.25  # share of the scenarios, since integrating out people's stances is slow


def load(data: Path | None) -> Evaluation:
    """Read a study from JSON lines, or simulate one of the published size.

    Parameters
    ----------
    data : Path or None
        Folder that `SituationalJudgments.to_json_lines` wrote.
    """
    if data is None:
        return choices(simulated_study().judgments)
    return choices(SituationalJudgments.from_json_lines(data))


def simulated_cohort(seed: int) -> Cohort:
    """Simulate nine models on a quarter of the scenarios, as subjects with known profiles."""
    study = simulated_study(seed, per_statement=4, models=list(subjects().index[::3]))
    return Cohort(choices(study.judgments), study.truth.drop(columns=["size", "acquiescence"]))


def two_traits() -> dict[str, Case]:
    """Return the layout for two of its traits, and some of their scenarios."""
    items = simulated_cohort(1).evaluation.items
    shown = items[[f"trait[{trait}]" for trait in _TRAITS]].sum(axis=1) == 1
    return {RECOMMENDED: Case(disposition_layout(_TRAITS), items[shown].iloc[::_EVERY], _SHARE)}


SCENARIO = Scenario(
    name="dispositions",
    title="Dispositions: 25 simulated language models advise in 2,357 scenarios judged by people",
    source="Taubenfeld et al. (2026)",
    layouts=LAYOUTS,
    load=load,
    simulate=simulated_cohort,
    columns=COLUMNS,
    cases=two_traits,
)

__all__ = [
    "SCENARIO",
    "TRAITS",
    "SimulatedStudy",
    "Trait",
    "disposition_layout",
    "distances",
    "implied_misalignment",
    "overall",
    "rater_pool",
    "simulated_cohort",
    "simulated_study",
    "subjects",
    "supports",
]
