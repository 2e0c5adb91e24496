"""Linking functions, drawn over one of their operands."""

import matplotlib.pyplot as plt
import numpy as np

from measurement_layouts import linking
from measurement_layouts.plots import style

over = np.linspace(-6, 6, 400)
unit = np.linspace(0, 1, 200)


def panel(function, xlabel):
    """Make a small figure for curves of a function over one operand."""
    _, axes = plt.subplots(figsize=(5.2, 3.4), layout="constrained")
    axes.set_prop_cycle(color=[colour for colour, _ in style.METHODS])
    axes.set(xlabel=xlabel, ylabel="result")
    style.title(axes, f"linking.{function.name}")
    style.rules(axes)
    style.quiet_frame(axes, "left", "bottom")
    return axes


def explain(axes):
    """Name the curves below the axes."""
    style.legend(np.array([axes]), axes.figure, 4)


def number(value):
    """Write a number with a true minus sign."""
    return f"{value:g}".replace("-", "\u2212").replace("inf", "∞")


# %% logistic
# Three S-shaped curves from 0 to 1 over the margin, which cross at one half where capability
# equals demand. The larger the slope, the steeper the curve.
axes = panel(linking.logistic, "margin: capability minus demand")
for slope in (0.5, 1, 2):
    axes.plot(over, linking.logistic(over, slope), label=f"slope {slope:g}")
explain(axes)

# %% logit
# Three S-shaped curves over a margin with a floor, moved by an ease: the floor itself rises and
# falls with the ease.
axes = panel(linking.logit, "margin of a logistic, and an ease beside it")
for ease in (-2, 0, 2):
    eased = linking.logistic(linking.logit(linking.guessing(linking.logistic(over), 0.25)) + ease)
    axes.plot(over, eased, label=f"ease {number(ease)}, chance 0.25")
explain(axes)

# %% guessing
# Three S-shaped curves over the margin with floors at 0, one quarter and one half, which all end
# at 1.
axes = panel(linking.guessing, "margin of a logistic")
for chance in (0, 0.25, 0.5):
    axes.plot(over, linking.guessing(linking.logistic(over), chance), label=f"chance {chance:g}")
explain(axes)

# %% mixture
# Three S-shaped curves over the margin that cross at one half. The more noise, the flatter the
# curve, at both ends.
axes = panel(linking.mixture, "margin of a logistic, pulled towards 0.5")
for noise in (0, 0.2, 0.5):
    axes.plot(over, linking.mixture(linking.logistic(over), noise, 0.5), label=f"noise {noise:g}")
explain(axes)

# %% presence
# Three lines that fall from 1 as a property gets present: to the ability where it is fully there.
axes = panel(linking.presence, "flag: how far the property is there")
for ability in (0, 0.3, 0.8):
    axes.plot(unit, linking.presence(ability, unit), label=f"ability {ability:g}")
explain(axes)

# %% band
# Three curves over the propensity: a wide and a narrow hill with a peak of 1, and a slope that
# stays at 1 since its band has no upper end.
axes = panel(linking.band, "propensity")
for low, high in ((-3, 3), (-1, 1), (-4, np.inf)):
    axes.plot(over, linking.band(over, low, high), label=f"from {number(low)} to {number(high)}")
explain(axes)

# %% uncertain_band
# Three hills over the propensity. The less certain the ends of the band, the lower the peak and
# the wider the foot.
axes = panel(linking.uncertain_band, "propensity; the band goes from −3 to 3")
for spread in (0, 1, 2):
    axes.plot(over, linking.uncertain_band(over, -3, 3, spread), label=f"spread {spread:g}")
explain(axes)

# %% bilogistic
# Two hills over the propensity that share their right side. With a steeper lower slope the left
# side is steeper and the peak is higher.
axes = panel(linking.bilogistic, "propensity; the band goes from −3 to 3")
for slope in (1, 3):
    axes.plot(over, linking.bilogistic(over, -3, 3, slope, 1), label=f"lower slope {slope:g}")
explain(axes)

# %% product
# Three lines from 0, which rise with one part as steeply as the other part is large.
axes = panel(linking.product, "one part")
for other in (1, 0.7, 0.4):
    axes.plot(unit, linking.product(unit, other), label=f"the other part: {other:g}")
explain(axes)

# %% generalised_mean
# Four curves of a mean of two parts over one of them, the other being 0.8: from a straight line
# for the power 1 to the smaller of the two for minus infinity.
axes = panel(linking.generalised_mean, "one part; the other is 0.8")
for power in (1, 0, -1, -np.inf):
    mean = linking.generalised_mean(unit, 0.8, power=power)
    axes.plot(unit, mean, label=f"power {number(power)}")
explain(axes)

# %% total
# Two parallel lines: the sum of two parts over one of them, for two values of the other.
axes = panel(linking.total, "one part")
axes.plot(unit, linking.total(unit, 0.3), label="the other part: 0.3")
axes.plot(unit, linking.total(unit, -0.1), label="the other part: −0.1")
explain(axes)

# %% walk
# Three random walks over six years from 0, straight between the years.
axes = panel(linking.walk, "year")
years, steps = np.linspace(0, 6, 200), np.random.default_rng(1).normal(size=(3, 6))
for place, own in enumerate(steps):
    course = [linking.walk(year, own, knots=range(7), over=-1)[0] for year in years]
    axes.plot(years, course, label=f"walk {place + 1}")
explain(axes)
