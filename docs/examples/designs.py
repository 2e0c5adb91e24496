"""Which items should be run next? A designed battery, and an adaptive test."""

import pandas as pd

import measurement_layouts as ml
from measurement_layouts.scenarios import animal_ai_olympics as aaio

layout = aaio.recommended_layout()
bank = pd.concat([aaio.battery(seed=seed).add_prefix(f"{seed}-", axis=0) for seed in range(2, 8)])
truth = {
    "navigationAbility": 50,
    "turningCost": 8,
    "rightLeftBias": 3,
    "navigationSlope": 0.2,
    "visualAbility": 5,
    "visualSlope": 2,
    "noiseLevel": 0.1,
}
answers = ml.simulate(layout, bank, pd.DataFrame(truth, ["agent"]), seed=5).successes.loc["agent"]


def asked(share):
    """Ask 40 items; a share of them at random."""
    test = ml.AdaptiveTest(layout, bank, subject="agent", random_share=share, seed=3)
    for _ in range(40):
        (item,) = test.next()
        test.record(item, answers[item])
    return test


tests = {"adaptive": asked(0), "random": asked(1)}
design = ml.batteries.design(layout, bank, n=40)

# %% adaptive_plot
# Seven panels, one for each element: the posterior standard deviation over 40 answers, when items
# are chosen and when they are random, beside what was expected of a design.
axes = ml.plots.adaptive_plot(tests, design=design)

# %% design_plot
# Seven falling curves of the expected standard deviations over the number of items, as parts of
# those before any item. That of navigation falls most, that of the turning cost hardly.
axes = ml.plots.design_plot(design)
