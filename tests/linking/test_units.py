"""Units: what may be added, opposed, multiplied and raised."""

import keyword

import pytest

from measurement_layouts import Bias, Capability, Derived, LayoutError, MetaFeature, Slope
from measurement_layouts.linking import band, evaluate, linking_function, logistic, units


def capability(unit=None, name="ability"):
    return Capability(name, low=0, high=5, unit=unit)


def demand(unit=None, name="demand"):
    return MetaFeature(name, low=0, high=5, unit=unit)


@pytest.mark.parametrize(
    ("build", "complaint"),
    [
        (lambda: capability("m") - demand("s"), "demand:"),
        (lambda: capability("m") - demand("cm"), "demand:"),
        (lambda: capability() - demand("m"), "demand:"),
        (lambda: capability("m") + demand(), "demand:"),
        (lambda: capability("level") - demand("digit"), "demand:"),
        (
            lambda: capability("s") - demand("s") * demand("position", name="places"),
            "demand × places: it has",
        ),
        (lambda: band(capability("m"), demand("m"), demand("s", name="top")), "top:"),
        (lambda: 2 ** demand("m"), "demand:"),
        (lambda: demand("m") ** demand(name="power"), "demand:"),
    ],
)
def test_mixed_units_name_both_nodes_and_both_units(build, complaint):
    with pytest.raises(LayoutError, match=complaint):
        build()


def test_what_an_exponent_with_a_unit_can_do():
    """Each way out that the message names builds the power."""
    doublings = Capability("reach", low=0, high=7, unit="doubling")
    step = MetaFeature("step", low=1, high=2, unit="doubling")

    @linking_function(range=(1, 128))
    def hours(level):
        return 2**level

    ways = [2 ** Capability("reach", low=0, high=7), 2 ** (doublings / step), hours(doublings)]
    for power in ways:
        assert units.is_pure(power.unit)
        assert evaluate(power, {"reach": 3.0, "step": 1.0}) == 8


@pytest.mark.parametrize(
    "build",
    [
        lambda: capability("m") - demand("m"),
        lambda: capability("m") - demand("metre"),
        lambda: capability("s*position") - demand("s") * demand("position", name="places"),
        lambda: capability("position*s") - demand("position") * demand("s", name="wait"),
        lambda: capability("m") - demand("m/s") * demand("s", name="wait"),
        lambda: capability("m**2") - demand("m") ** 2,
        lambda: capability("1/s") - 1 / demand("s"),
        lambda: capability("m") - (3 + 2 * demand("m") / 4 - 1),
        lambda: capability("m") + Bias("lean"),
        lambda: capability("m") + Bias("lean") * demand(name="side"),
        lambda: capability("m") - demand("m") * demand("s") / demand("s", name="all"),
        lambda: 2 ** (demand("s") / capability("s")),
        lambda: logistic(capability("m") - demand("m"), slope=Slope("steep")) + 1,
        lambda: capability() - demand(""),
        lambda: capability("m") - Derived("far", demand("m")),
    ],
)
def test_units_that_agree_join(build):
    build()


def test_a_bias_with_a_unit_of_its_own_joins_only_that():
    assert (Bias("lean", unit="m") - demand("m")).unit == capability("m").unit
    with pytest.raises(LayoutError, match="lean: it has unit s and is opposed to"):
        capability("m") - Bias("lean", unit="s")


def test_words_that_pint_does_not_know_become_units():
    assert units.parse("zorkmid") == units.parse("zorkmid")
    assert units.parse("zorkmid") != units.parse("quatloo")
    assert units.spelled(units.parse("s*zorkmid")) == "second * zorkmid"


def test_a_word_that_is_taken_as_it_is_means_what_pint_says():
    """All words that pint knows, its prefixes, and Python's own: none is refused, or a number."""
    registry = units._registry()
    known = {*registry._units, *registry._prefixes, *keyword.kwlist, *dir(registry), "m2", "sq"}
    taken = [word for word in known if units._WORD.fullmatch(word)]
    assert len(taken) > 1000
    for word in taken:
        assert units.parse(word).pint == registry.Unit(word) != registry.dimensionless


def test_units_follow_from_their_words():
    """Against pint's own products, quotients and powers."""
    registry = units._registry()
    one, other = units.parse("m/s"), units.parse("metre")
    for found, expected in (
        (one * other, registry.Unit("m**2/s")),
        (one / other, registry.Unit("1/s")),
        (one**0.5, registry.Unit("m") ** 0.5 / registry.Unit("s") ** 0.5),
        (one**-1, registry.Unit("s/m")),
    ):
        assert found.pint == expected
    assert units.is_pure(other / units.parse("m"))
    assert units.is_pure(units.parse(""))
    assert units.is_pure(units.parse("dimensionless"))
    assert not units.is_pure(units.parse("radian"))
    assert not units.is_pure(one / other)
