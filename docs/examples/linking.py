"""Linking functions, drawn over one of their operands."""

import matplotlib.pyplot as plt
import numpy as np

from measurement_layouts import linking

over = np.linspace(-6, 6, 400)
unit = np.linspace(0, 1, 200)


def panel(xlabel):
    """Make a small figure for curves over one operand."""
    _, axes = plt.subplots(figsize=(5.2, 3), layout="constrained")
    axes.spines[["top", "right"]].set_visible(False)
    axes.set(xlabel=xlabel, ylabel="result")
    return axes


# %% logistic
axes = panel("margin: capability minus demand")
for slope in (0.5, 1, 2):
    axes.plot(over, linking.logistic(over, slope), label=f"slope {slope:g}")
axes.legend()

# %% logit
axes = panel("margin of a logistic, and an ease beside it")
for ease in (-2, 0, 2):
    eased = linking.logistic(linking.logit(linking.guessing(linking.logistic(over), 0.25)) + ease)
    axes.plot(over, eased, label=f"ease {ease:g}, chance 0.25")
axes.legend()

# %% guessing
axes = panel("margin of a logistic")
for chance in (0, 0.25, 0.5):
    axes.plot(over, linking.guessing(linking.logistic(over), chance), label=f"chance {chance:g}")
axes.legend()

# %% mixture
axes = panel("margin of a logistic, pulled towards 0.5")
for noise in (0, 0.2, 0.5):
    axes.plot(over, linking.mixture(linking.logistic(over), noise, 0.5), label=f"noise {noise:g}")
axes.legend()

# %% presence
axes = panel("flag: how far the property is there")
for ability in (0, 0.3, 0.8):
    axes.plot(unit, linking.presence(ability, unit), label=f"ability {ability:g}")
axes.legend()

# %% band
axes = panel("propensity")
for low, high in ((-3, 3), (-1, 1), (-4, np.inf)):
    axes.plot(over, linking.band(over, low, high), label=f"from {low:g} to {high:g}")
axes.legend()

# %% uncertain_band
axes = panel("propensity; the band goes from -3 to 3")
for spread in (0, 1, 2):
    axes.plot(over, linking.uncertain_band(over, -3, 3, spread), label=f"spread {spread:g}")
axes.legend()

# %% bilogistic
axes = panel("propensity; the band goes from -3 to 3")
for slope in (1, 3):
    axes.plot(over, linking.bilogistic(over, -3, 3, slope, 1), label=f"lower slope {slope:g}")
axes.legend()

# %% product
axes = panel("one part")
for other in (1, 0.7, 0.4):
    axes.plot(unit, linking.product(unit, other), label=f"the other part: {other:g}")
axes.legend()

# %% generalised_mean
axes = panel("one part; the other is 0.8")
for power in (1, 0, -1, -np.inf):
    mean = linking.generalised_mean(unit, 0.8, power=power)
    axes.plot(unit, mean, label=f"power {power:g}")
axes.legend()

# %% power_mean
axes = panel("one part; the other is 0.8")
parts = np.stack([unit, np.full_like(unit, 0.8)])
for power in (-4, 0, 4):
    axes.plot(unit, linking.power_mean(parts, power, over=0)[0], label=f"power {power:g}")
axes.legend()

# %% total
axes = panel("one part")
axes.plot(unit, linking.total(unit, 0.3), label="the other part: 0.3")
axes.plot(unit, linking.total(unit, -0.1), label="the other part: -0.1")
axes.legend()

# %% walk
axes = panel("year")
years, steps = np.linspace(0, 6, 200), np.random.default_rng(1).normal(size=(3, 6))
for place, own in enumerate(steps):
    course = [linking.walk(year, own, knots=range(7), over=-1)[0] for year in years]
    axes.plot(years, course, label=f"walk {place + 1}")
axes.legend()
