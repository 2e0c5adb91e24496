"""Joint layouts for tests: what subjects, items and categories of both share; and random ones."""

from hypothesis import strategies as st

import measurement_layouts as ml
from helpers.populations import normal, shared, spread_of
from measurement_layouts.linking import guessing, logistic, logit, mixture

SHARED = "population"


def zero_sum(spread, **options):
    return ml.Prior("ZeroSumNormal", sigma=spread, **options)


def rasch():
    """Subjects from a population, on items that differ in ease."""
    mean, spread = shared("mean"), spread_of("spread")
    ability = ml.Capability("ability", prior=normal(mean, spread))
    ease = ml.Effect("ease", per="item", prior=zero_sum(spread_of("easeSpread")))
    return ml.Layout("Rasch", ml.Success("solved", logistic(ability + ease)))


def exam():
    """Every plate: covariate, schools, topics of areas, an interaction, and a shared weight."""
    tests = ml.MetaFeature("tests", low=-3, high=3, per="subject", about="results at school")
    school = ml.Category("school", per="subject", about="where they learnt")
    topic = ml.Category("topic", levels=("numbers", "shapes"))
    area = ml.Category("area", per=topic)
    of_school = ml.Effect("schoolEffect", per=school, prior=normal(0, spread_of("schoolSpread")))
    mean, gain = shared("mean"), shared("gain")
    prior = normal(mean + gain * tests + of_school, spread_of("spread"))
    ability = ml.Capability("ability", prior=prior)
    of_area = ml.Effect("areaEase", per=area)
    of_topic = ml.Effect("topicEase", per=topic, prior=normal(of_area, spread_of("topicSpread")))
    ease = ml.Effect("ease", per="item", prior=zero_sum(spread_of("easeSpread")))
    liking = ml.Effect("liking", per=("subject", topic), prior=normal(0, 0.5))
    steps = ml.MetaFeature("steps", low=1, high=9, unit="step")
    chance = ml.MetaFeature("chance", low=0, high=1)
    cost = ml.Slope("cost", per=SHARED, unit="1/step")
    margin = ml.Derived("margin", ability + of_topic + ease + liking - cost * steps)
    return ml.Layout("exam", ml.Success("solved", guessing(logistic(margin), chance)))


def crossed():
    """Two categories of items, neither of the other; one of subjects meets one of them."""
    colour, shape = ml.Category("colour"), ml.Category("shape")
    group = ml.Category("group", per="subject")
    ability = ml.Capability("ability", low=0, high=4)
    favour = ml.Effect("favour", per=(group, shape), prior=zero_sum(0.5, n_zerosum_axes=2))
    costs = ml.Effect("colourCost", per=colour) + ml.Effect("shapeCost", per=shape)
    demand = ml.MetaFeature("demand", low=0, high=4)
    return ml.Layout("crossed", ml.Success("solved", logistic(ability - demand - costs + favour)))


def eased():
    """Effects of items beside a finished probability."""
    sight = ml.Capability("sight", low=0, high=2)
    size = ml.MetaFeature("size", low=0, high=2)
    sees = mixture(logistic(sight - size), by=ml.Noise("noise"), toward=0.5)
    ease = ml.Effect("ease", per="item", prior=normal(0, spread_of("easeSpread")))
    return ml.Layout("eased", ml.Success("found", logistic(logit(sees) + ease)))


JOINT = {made.__name__: made for made in (rasch, exam, crossed, eased)}


@st.composite
def random_joint_layouts(draw):
    """Effects on random plates, with priors that depend on coarser ones."""
    levels = draw(st.none() | st.just(("a", "b", "c")))
    school = ml.Category("school", per="subject", about=draw(st.text(max_size=4)))
    task = ml.Category("task", levels=levels)
    benchmark = ml.Category("benchmark", per=task)
    country = ml.Category("country", per=school)
    plates = [(), ("item",), (task,), (benchmark,), (school,), (country,)]
    plates += [("subject", "item"), ("subject", task), (school, benchmark), (country, "item")]
    tests = ml.MetaFeature("tests", low=-1, high=2, per="subject")
    mean = ml.Effect("mean", per=draw(st.sampled_from([(), (school,), (country,)])))
    prior = normal(mean + draw(st.sampled_from([0, 0.5 * tests, -tests])), spread_of("spread"))
    margin = ml.Capability("ability", prior=prior)
    for number, per in enumerate(draw(st.lists(st.sampled_from(plates), min_size=1, max_size=4))):
        width = draw(st.sampled_from([0.5, spread_of(f"spread{number}")]))
        axes = draw(st.integers(0, len([plate for plate in per if plate != "subject"])))
        family = zero_sum(width, n_zerosum_axes=axes) if axes else normal(0, width)
        margin = margin + ml.Effect(f"effect{number}", per=per, prior=family)
    margin = margin - draw(st.sampled_from([0, ml.MetaFeature("demand", low=0, high=5)]))
    p = logistic(margin)
    found = draw(st.sampled_from([p, logistic(logit(mixture(p, 0.1, 0.5)) + tests)]))
    return ml.Layout("random", ml.Success("solved", found))
