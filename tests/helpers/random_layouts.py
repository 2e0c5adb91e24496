"""Layouts for tests: one that uses everything, and random ones."""

import math

from hypothesis import strategies as st

from measurement_layouts import (
    Bias,
    Capability,
    Derived,
    Layout,
    MetaFeature,
    Noise,
    Prior,
    Propensity,
    Slope,
    Success,
)
from measurement_layouts.linking import (
    arrays,
    band,
    generalised_mean,
    guessing,
    linking_function,
    logistic,
    mean_failure,
    mixture,
    presence,
    product,
)

inf = math.inf


@linking_function(range=(0, 1), same_unit=("ability", "demand"))
def survival(ability, demand, *, steps=2, wording="inf"):
    """A custom linking function with a whole number and a text among its options."""
    return arrays.exp(-steps * arrays.maximum(demand - ability, 0.0))


def rich_layout(name="rich", **changes):
    """Labels, a band, a hierarchical prior, a custom function, infinite powers and ends."""
    skills = ("see", "walk", "reason")
    options = {"low": 0, "power": -inf, "weight": 0.5, "about": "of the skills", "steps": 3}
    options |= changes
    spread = Capability("spread", prior=Prior("HalfNormal", sigma=2), about=options["about"])
    skill = Capability(
        "talent", prior=Prior("Normal", mu=0, sigma=spread), labels=skills, dim="skill"
    )
    demand = MetaFeature("demand", low=options["low"], high=5, labels=skills, dim="skill")
    steep = Slope("steep")
    risk = Propensity("risk", low=-4, high=4, unit="level")
    ends = [MetaFeature(f"{end}_end", low=-inf, high=inf, unit="level") for end in ("low", "high")]
    lean = Bias("lean", prior=Prior("StudentT", nu=4, mu=0, sigma=1))
    side = MetaFeature("side", levels=(-1, 0, 1))
    reach = Capability("reach", low=0.5, high=3, unit="s*level")
    far = MetaFeature("far", low=0, high=3, unit="s") * MetaFeature(
        "up", low=0, high=1, unit="level"
    )
    noise = Noise("noise", prior=Prior("Beta", alpha=1, beta=9))
    able = Derived("able", logistic(skill - demand, steep))
    weakest = Derived("weakest", generalised_mean(able, power=options["power"], over="skill"))
    fitting = Derived("fitting", band(risk, *ends, min_width=0.2), about="neither too much nor")
    held = survival(reach, far, steps=options["steps"])
    leaning = logistic(lean * side + 2 * reach**2 - far**2 / 4)
    weight = options["weight"]
    both = generalised_mean(weakest, fitting, power=0, weights=(1, 3))
    explained = weight * both + (1 - weight) * presence(
        held * leaning, MetaFeature("on", levels=(0, 1))
    )
    return Layout(
        name, Success("solved", mixture(guessing(explained, 0.1), by=noise, toward=mean_failure))
    )


def _texts():
    return st.text(max_size=8)


@st.composite
def _latent(draw, number, labels=None):
    kind = draw(st.sampled_from([Capability, Propensity]))
    common = {"unit": "u", "about": draw(_texts()), "labels": labels}
    low = draw(st.floats(-10, 10))
    if draw(st.booleans()):
        return kind(f"latent{number}", low=low, high=low + draw(st.floats(0.5, 20)), **common)
    if draw(st.booleans()):
        above = Capability(f"above{number}", prior=Prior("Exponential", lam=1), unit="u")
        return kind(f"latent{number}", prior=Prior("Normal", mu=above, sigma=1), **common)
    prior = Prior("TruncatedNormal", mu=low, sigma=1, lower=low, upper=inf)
    return kind(f"latent{number}", prior=prior, **common)


@st.composite
def _feature(draw, number, labels=None):
    common = {"unit": "u", "about": draw(_texts()), "labels": labels}
    if draw(st.booleans()):
        levels = draw(st.lists(st.integers(-3, 9), min_size=2, max_size=5, unique=True))
        return MetaFeature(f"feature{number}", levels=levels, **common)
    low = draw(st.floats(-10, 10) | st.just(-inf))
    high = draw(st.just(inf) | st.floats(max(low, -10) + 1, 30))
    return MetaFeature(f"feature{number}", low=low, high=high, **common)


@st.composite
def _part(draw, number):
    """Probability that opposes a latent to a meta-feature."""
    labels = draw(st.none() | st.just(("x", "y", "z")))
    latent, feature = draw(_latent(number, labels)), draw(_feature(number, labels))
    options = {"power": draw(st.sampled_from([-inf, -2.5, 0.0, 1, inf])), "over": "dimension"}
    options["weights"] = draw(st.none() | st.just((1, 2.5, 3)))
    shape = draw(st.integers(0, 3))
    if shape == 0:
        margin = draw(st.floats(-3, 3)) + latent - draw(st.floats(0.1, 3)) * feature
        made = logistic(margin + Bias("lean"))
    elif shape == 1:
        made = logistic(latent - feature, Slope("steep", unit="1/u"))
    elif shape == 2:
        made = band(latent, -inf, feature, min_width=draw(st.floats(0.05, 1)))
    else:
        made = survival(latent, feature, steps=draw(st.integers(1, 4)))
    if labels is not None:
        made = draw(
            st.sampled_from([product(made, over="dimension"), generalised_mean(made, **options)])
        )
    return draw(st.sampled_from([made, Derived(f"part{number}", made, about=draw(_texts()))]))


@st.composite
def random_layouts(draw):
    parts = [draw(_part(number)) for number in range(draw(st.integers(1, 3)))]
    joined = draw(
        st.sampled_from(
            [
                product(*parts),
                generalised_mean(*parts, power=draw(st.sampled_from([-1, 0.5, inf]))),
                sum(part * (1 / len(parts)) for part in parts),
            ]
        )
    )
    ending = draw(st.integers(0, 2))
    if ending == 1:
        joined = guessing(joined, draw(st.floats(0, 1)))
    if ending == 2:
        toward = draw(st.sampled_from([mean_failure, 0.25]))
        joined = mixture(joined, by=Noise("noise"), toward=toward)
    name = draw(_texts().filter(str.strip))
    return Layout(name, Success("solved", joined, about=draw(_texts())))
