"""Plates: who has a value of its own, what that joins, and every mistake named where it is made."""

import json
import pickle

import numpy as np
import pytest
from helpers.joint_layouts import JOINT, exam, normal, random_joint_layouts, rasch, zero_sum
from hypothesis import given

import measurement_layouts as ml
from measurement_layouts.layouts.latents import plates_of
from measurement_layouts.layouts.opposed import opposed
from measurement_layouts.linking import logistic, mixture, product

TASK = ml.Category("task")
BENCHMARK = ml.Category("benchmark", per=TASK)
SCHOOL = ml.Category("school", per="subject")
FAR = ml.MetaFeature("far", low=0, high=1)
TESTS = ml.MetaFeature("tests", low=-1, high=1, per="subject")
ABILITY = ml.Capability("ability", low=0, high=1)
EASE = ml.Bias("ease", per="item")


def layout(margin, name="one"):
    return ml.Layout(name, ml.Success("solved", logistic(margin)))


@pytest.mark.parametrize(
    ("latent", "plates"),
    [
        (ml.Bias("b"), ("subject",)),
        (ml.Bias("b", per="subject"), ("subject",)),
        (ml.Bias("b", per="item"), ("item",)),
        (ml.Bias("b", per="population"), ()),
        (ml.Spread("b"), ()),
        (ml.Spread("b", per=TASK), (TASK,)),
        (ml.Bias("b", per=["subject", TASK]), ("subject", TASK)),
        (ml.Capability("b", low=0, high=1, per=SCHOOL), (SCHOOL,)),
        (ml.Capability("b", low=0, high=1, per=(SCHOOL, BENCHMARK)), (SCHOOL, BENCHMARK)),
        (ml.Propensity("b", low=0, high=1, per="population"), ()),
    ],
    ids=str,
)
def test_who_has_a_value(latent, plates):
    assert latent.plates == plates
    assert latent.is_profile == (plates == ("subject",))


def refusals():
    """Each mistake, and what is said of it; the first word names who made it."""
    bias, n = ml.Bias, normal
    yield "as text", lambda: bias("b", per="task"), r"b: .*'task', .*task = Category\('task'\)"
    yield "feature", lambda: bias("b", per=FAR), r"b: .*meta-feature far, which is no category"
    yield "a number", lambda: bias("b", per=3), r"b: per= holds 3, .* 'subject', 'item'"
    yield "item and its task", lambda: bias("b", per=("item", TASK)), "b: .*each item has one task"
    yield "and back", lambda: bias("b", per=(BENCHMARK, TASK)), "each task has one benchmark; .*=t"
    yield "school", lambda: bias("b", per=("subject", SCHOOL)), "each subject has one .*='subject'"
    yield "twice", lambda: bias("b", per=("item", "item")), "b: .* holds item twice"
    yield "and all", lambda: bias("b", per=("population", "item")), "b: .*'population' beside"
    capability, propensity = ml.Capability, ml.Propensity
    for kind in (capability, propensity):
        for per in ("item", TASK, ("item",), (BENCHMARK,)):
            build = lambda kind=kind, per=per: kind("c", low=0, high=1, per=per)  # noqa: E731
            yield f"{kind.kind} {per}", build, f"c: per=.* {kind.kind} to items alone.*Effect or"
    shared, item = {"per": "population"}, {"per": "item"}
    yield (
        "finer",
        lambda: bias("b", **shared, prior=n(ABILITY, 1)),
        "b: .*ability.*per subject, but",
    )
    yield "other", lambda: bias("b", prior=n(EASE, 1)), "b: .*ease, .*per item, but b has one per s"
    yield "sum", lambda: bias("b", **item, prior=n(2 * EASE + ABILITY, 1)), "b: .*depends on abili"
    yield "covariate", lambda: bias("b", **item, prior=n(TESTS, 1)), "b: .*tests, .*per subject"
    yield "of item", lambda: bias("b", **item, prior=n(FAR, 1)), "b: .*far, which is not a latent"
    width = ml.Spread("s", per="subject")
    yield (
        "own spread",
        lambda: bias("b", prior=n(0, width)),
        "b: .*on s, a spread.*'popul",
    )
    yield (
        "in a sum",
        lambda: bias("b", prior=n(0, 1 + width)),
        "b: .*on s, a spread per subj",
    )
    by_school = ml.Spread("s", per=SCHOOL)
    yield (
        "school's",
        lambda: bias("b", per=SCHOOL, prior=n(0, by_school)),
        "b: .*a spread per school, and so is b",
    )
    yield (
        "negative",
        lambda: ml.Spread("s", prior=n(0, 1)),
        r"s: a spread must be within \[0, " r"inf\]",
    )


def test_the_advice_on_plates_cures_the_mistake():
    """A mean per group of subjects needs a Category of subjects; what is written so is accepted."""

    def ability(group, per="subject"):
        mean = ml.Bias("mean", per=group)
        return ml.Capability("ability", per=per, prior=normal(mean, 1))

    for wrong in (ml.Category("species"), ml.Category("genus", per=ml.Category("species"))):
        with pytest.raises(ml.LayoutError, match=r"write Category\('species', per='subject'\)$"):
            ability(wrong)
    species = ml.Category("species", per="subject")
    assert ability(species).plates == ("subject",)
    assert ability(ml.Category("genus", per=species)).plates == ("subject",)
    with pytest.raises(ml.LayoutError, match="write per='subject' of the Category"):
        ml.Capability("ability", low=0, high=1, per=ml.Category("species"))
    ml.Capability("ability", low=0, high=1, per=species)
    with pytest.raises(ml.LayoutError, match=r"write per='subject' for ability, or per='pop"):
        ability("subject", per=species)
    with pytest.raises(ml.LayoutError, match=r"write per=species for ability, or per='pop"):
        ability(species, per="population")
    for cured in (ability(species, per=species), ability("population", per="population")):
        assert cured.parents


def sums():
    """Mistakes about values that sum to zero."""
    bias, z = ml.Bias, zero_sum
    yield "mean", lambda: z(1, mu=0), "it has no mu; its mean is always 0; give sigma="
    yield "other", lambda: z(1, lower=0), "it has no lower; give sigma="
    yield "axes", lambda: z(1, n_zerosum_axes=3), "n_zerosum_axes=3; give 1 .* or 2"
    yield "no axes", lambda: z(1, n_zerosum_axes=0), "n_zerosum_axes=0; give 1"
    yield "node", lambda: z(1, n_zerosum_axes=ABILITY), "n_zerosum_axes=ability; give 1"
    yield "no width", lambda: z(-1), "sigma=−1 must be positive"
    yield "subjects", lambda: bias("b", prior=z(1)), "b: .*one value per subject, and subjects h"
    yield "all", lambda: bias("b", per="population", prior=z(1)), "b: .*1 plate, .*per population"
    two = zero_sum(1, n_zerosum_axes=2)
    yield "one of two", lambda: bias("b", per="item", prior=two), "b: .*2 plates, .*value per item"
    yield "order", lambda: bias("b", per=("item", "subject"), prior=z(1)), "b: .*after 'subject'"
    yield "both", lambda: bias("b", per=("subject", "item"), prior=two), "b: .*subjects have no sum"
    by_task = zero_sum(ml.Spread("s", per=TASK))
    yield "widths", lambda: bias("b", per="item", prior=by_task), "b: .*over item, .*on s, .*task;"
    labelled = {"x": zero_sum(1), "y": normal(0, 1)}
    yield (
        "a label",
        lambda: bias("b", per="item", labels=("x", "y"), prior=labelled),
        "b: it has labels",
    )


def categories():
    """Mistakes about categories: they are no numbers."""
    yield "sum", lambda: TASK + 1, "task: it is a category, and no number; write per=task"
    yield "margin", lambda: ABILITY - TASK, "task: it is a category"
    yield "call", lambda: logistic(TASK), "task: it is a category"
    yield "call of several", lambda: product(ABILITY, TASK), "task: it is a category"
    yield "NumPy's", lambda: np.log(TASK), "task: it is a category"
    yield "prior", lambda: normal(TASK, 1), "task: it is a category"
    yield "derived", lambda: ml.Derived("d", TASK), "d: its expression: task: it is a category"
    yield "outcome", lambda: ml.Success("d", TASK), "d: its expression: task: it is a category"
    yield "compared", lambda: TASK > 1, "task: it cannot be compared"
    yield "outcome alone", lambda: ml.Layout("x", TASK), "its outcome is Category"
    for name in ("chain", "draw", "subject", "item"):
        yield (
            name,
            lambda name=name: ml.Category(name),
            f"the name '{name}' is the name of a dimens",
        )
    yield "per all", lambda: ml.Category("c", per="population"), "c: per='population'; a category"
    yield "per text", lambda: ml.Category("c", per="task"), "c: per='task'; a category is one of"
    yield "twice", lambda: ml.Category("c", levels=("a", "a")), "c: levels repeat a"
    yield "numbers", lambda: ml.Category("c", levels=(1, 2)), r"c: levels=\(1, 2\); .*as texts"
    yield "one text", lambda: ml.Category("c", levels="ab"), "c: levels='ab'; give a tuple"
    feature = ml.MetaFeature
    yield "feature", lambda: feature("x", low=0, high=1, per=TASK), "x: per=.*'item' or of each 's"
    flag = ml.MetaFeature("flag", levels=(0, 1))
    yield (
        "given of another",
        lambda: feature("x", low=0, high=1, per="subject", given=flag),
        "x: it is of each subject, and given=flag of each item",
    )


def layouts():
    """Mistakes that only a whole layout shows."""
    named = ml.MetaFeature("task", low=0, high=1)
    by_task = ml.Bias("b", per=TASK)
    yield "as a node", lambda: layout(ABILITY + by_task - named), "different nodes are named 'task'"
    closed = ml.Bias("c", per=ml.Category("task", levels=("a", "b")))
    yield "two categories", lambda: layout(ABILITY + by_task + closed), "nodes are named 'task'"
    coarse = ml.Bias("c", per=ml.Category("ability", per=TASK))
    yield "as a latent", lambda: layout(ABILITY + coarse), "different nodes are named 'ability'"
    skills = ml.Capability("skill", low=0, high=1, labels=("x", "y"), dim="task")
    labelled = product(logistic(skills + by_task), over="task")
    yield (
        "as a dimension",
        lambda: ml.Layout("one", ml.Success("solved", labelled)),
        "'task': it names a node and also the label dimension of skill",
    )
    chances = ml.Measured("hard", levels=(0, 1))
    yield (
        "measured",
        lambda: layout(ABILITY + EASE - chances),
        r"hard: it is measured.*since ease has one value per item.*MetaFeature\('hard', \.\.\.\)",
    )


def each(cases):
    found = list(cases)
    return pytest.mark.parametrize(
        ("build", "said"), [case[1:] for case in found], ids=[case[0] for case in found]
    )


@each(refusals())
def test_plates_refuse(build, said):
    with pytest.raises(ml.LayoutError, match=said):
        build()


@each(sums())
def test_sums_refuse(build, said):
    with pytest.raises(ml.LayoutError, match=said):
        build()


@each(categories())
def test_categories_refuse(build, said):
    with pytest.raises(ml.LayoutError, match=said):
        build()


@each(layouts())
def test_layouts_refuse(build, said):
    with pytest.raises(ml.LayoutError, match=said):
        build()


def test_what_is_beside_a_mistake_is_taken():
    """Twin of the refusals: the same with one thing put right."""
    by_task, by_subject = ml.Spread("s", per=TASK), ml.Spread("s", per="subject")
    ml.Bias("b", prior=normal(0, ml.Spread("s")))
    ml.Bias("b", per="item", prior=normal(0, by_task))
    ml.Bias("b", labels=("x", "y"), prior=normal(0, by_subject))  # two values have a spread
    ml.Bias("b", per=("subject", TASK), prior=zero_sum(ml.Spread("s")))
    ml.Bias("b", per=(TASK, SCHOOL), prior=zero_sum(by_task))
    ml.Bias("b", per=(SCHOOL, TASK), prior=zero_sum(1, n_zerosum_axes=2))
    ml.Capability("c", low=0, high=1, per=("subject", TASK))
    flag = ml.MetaFeature("flag", levels=(0, 1), per="subject")
    ml.MetaFeature("x", low=0, high=1, per="subject", given=flag)


def test_a_covariate_is_no_demand():
    """It may stand in a margin alone, or oppose a demand; it is never what a fit must vary."""
    gain = ml.Bias("gain", per="population")
    mixed = layout(ABILITY + gain * TESTS - FAR)
    assert [feature.name for feature in mixed.covariates] == ["tests"]
    assert [feature.name for feature in mixed.meta_features] == ["far"]
    assert opposed(mixed) == {"far"}
    known = mixture(logistic(TESTS - FAR) * logistic(TESTS), by=ml.Noise("noise"), toward=0.5)
    assert ml.Layout("known", ml.Success("solved", known)).joint
    lone = mixture(logistic(2 * FAR), by=ml.Noise("noise"), toward=0.5)
    with pytest.raises(ml.LayoutError, match="far: no latent opposes it"):
        ml.Layout("lone", ml.Success("solved", lone))


def test_what_a_joint_layout_holds():
    made = exam()
    assert made.joint
    assert [latent.name for latent in made.profile] == ["ability", "liking"]
    assert {category.name for category in made.categories} == {"school", "topic", "area"}
    nodes = made.graph.nodes
    assert nodes["liking"]["plates"] == ("subject", "topic")
    assert nodes["margin"]["plates"] == nodes["solved"]["plates"] == ("subject", "item")
    assert nodes["gain"]["plates"] == ()
    assert nodes["tests"]["plates"] == ("subject",)
    assert not set(nodes) & {"school", "topic", "area"}
    assert not nodes["schoolEffect"]["per_item"]
    assert nodes["areaEase"]["per_item"]
    assert {
        plate if isinstance(plate, str) else plate.name
        for plate in plates_of(made.nodes["margin"].expression)
    } == {"subject", "topic", "item"}
    assert pickle.loads(pickle.dumps(made)) == made


def through_json(made):
    return ml.Layout.from_dict(json.loads(json.dumps(made.to_dict(), sort_keys=True)))


def hold(made):
    again = through_json(made)
    assert again == made
    assert again.fingerprint == made.fingerprint
    assert again.to_dict() == made.to_dict()
    assert again.to_graphviz() == made.to_graphviz()
    assert again.plates_of_nodes == made.plates_of_nodes


@pytest.mark.parametrize("name", JOINT)
def test_a_joint_layout_returns_from_json(name):
    hold(JOINT[name]())


@given(made=random_joint_layouts())
def test_random_joint_layouts_return_from_json(made):
    hold(made)


def test_the_fingerprint_changes_with_who_has_a_value():
    def of(per, **options):
        return layout(ABILITY + ml.Bias("b", per=per, **options)).fingerprint

    closed = ml.Category("task", levels=("a", "b"))
    of_school = ml.Category("task", per="subject")
    found = [of(per) for per in ("item", "population", "subject", TASK, BENCHMARK, closed)]
    found += [of(of_school), of("item", prior=zero_sum(1)), of("item", prior=normal(0, 1.5))]
    found.append(of((of_school, "item"), prior=zero_sum(1)))
    found.append(of((of_school, "item"), prior=zero_sum(1, n_zerosum_axes=2)))
    assert len(set(found)) == len(found)
    about = ml.Category("task", about="what was asked")
    assert of(about) == of(TASK)


def test_an_effect_is_shared_and_distinct_from_a_bias():
    """It has one value for the population by default, and returns from JSON as what it is."""
    effect = ml.Effect("ease")
    assert effect.plates == ()
    assert ml.Effect("ease", per="population") == effect != ml.Bias("ease", per="population")
    assert effect.priors == (ml.Prior("Normal", mu=0, sigma=2.5),)
    assert (ml.Capability("sight", low=0, high=9, unit="m") + effect).range.low == -np.inf
    kinds = [type(node) for node in through_json(rasch()).latents]
    assert kinds == [ml.Effect, ml.Spread, ml.Capability, ml.Spread, ml.Effect]
    of_effect, of_bias = (
        layout(ABILITY + kind("ease", per="item")) for kind in (ml.Effect, ml.Bias)
    )
    assert of_effect.fingerprint != of_bias.fingerprint
    drawn = [made.to_graphviz().replace("bias", "effect") for made in (of_effect, of_bias)]
    assert drawn[0] != drawn[1]  # a style of its own
