"""Models as subjects with known profiles, and choices of people and models read from files."""

from pathlib import Path

from ...dispositions.judgments import SituationalJudgments
from ...dispositions.pulls import choices
from ...evaluations.evaluation import Evaluation
from ..scenario import Case, Cohort, Scenario
from .layouts import RECOMMENDED, disposition_layout
from .simulated import simulated_study
from .subjects import subjects
from .traits import TRAITS

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


def two_traits(scenario: Scenario) -> dict[str, Case]:
    """Return the layout for two of its traits, and some of their scenarios."""
    items = scenario.simulate(1).evaluation.items
    shown = items[[f"trait[{trait}]" for trait in _TRAITS]].sum(axis=1) == 1
    return {RECOMMENDED: Case(disposition_layout(_TRAITS), items[shown].iloc[::_EVERY], _SHARE)}
