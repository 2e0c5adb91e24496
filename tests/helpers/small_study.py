"""Published studies on a few simulated subjects, for tests that run the command."""

import dataclasses

from measurement_layouts import scenarios

NAME = "animal-ai-olympics"
REAL = scenarios.get(NAME)
SUBJECTS = ["sim-26", "sim-39", "sim-50"]
COHORT = REAL.simulate(1).evaluation.select(subjects=SUBJECTS)


def three(scenario):
    """The scenario with three subjects, simulated ones in place of the real ones too."""

    def simulate(seed):
        cohort = scenario.simulate(seed)
        return dataclasses.replace(cohort, evaluation=cohort.evaluation.select(subjects=SUBJECTS))

    return dataclasses.replace(scenario, load=lambda folder: COHORT, simulate=simulate)


AGENTS = ["Agent6", "Agent18"]
EVERY = 15  # 146 of 2,188 arenas, of every paradigm


def two(scenario):
    """Object permanence with two agents and few arenas."""

    def simulate(seed):
        cohort = scenario.simulate(seed)
        items = list(cohort.evaluation.items.index[::EVERY])
        few = cohort.evaluation.select(subjects=AGENTS, items=items)
        return dataclasses.replace(cohort, evaluation=few)

    return dataclasses.replace(scenario, simulate=simulate)
