"""What the tests of faults share: a small study, and the whole message of an error."""

from contextlib import contextmanager

import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.linking import logistic

distance = ml.MetaFeature("distance", low=0, high=10, unit="m")
behind = ml.MetaFeature("behind", levels=(0, 1))
reach = ml.Capability("reach", low=0, high=10, unit="m")
layout = ml.Layout("reaching", ml.Success("found", logistic(reach - distance * (1 + behind))))

OPTIONS = {"draws": 500, "tune": 1, "chains": 2, "seed": 1, "method": "grid", "progressbar": False}
NUTS = OPTIONS | {"draws": 50, "tune": 100, "method": "nuts", "reruns": 0}


def items(**columns):
    """Three items that the layout takes, with other columns where they are given."""
    plain = {"distance": [1.0, 4.0, 7.0], "behind": [0, 1, 0]}
    return pd.DataFrame(plain | columns, index=["a", "b", "c"])


def table(rows, index=("Ann", "Bob"), columns=("a", "b", "c")):
    """Outcomes of subjects on items."""
    return pd.DataFrame(rows, index=list(index), columns=list(columns))


def evaluation(properties=None, rows=((1, 1, 0), (1, 0, 0)), **names):
    """Read outcomes on the items."""
    return ml.Evaluation.from_wide(
        table(rows, **names), items() if properties is None else properties
    )


def cohort(count=6):
    """Outcomes of several subjects."""
    rows = [((1, 1, 0), (1, 0, 0), (1, 0, 1))[place % 3] for place in range(count)]
    return evaluation(rows=rows, index=[f"s{place}" for place in range(count)])


def fit(properties=None, of=layout, **options):
    """Fit the layout to the outcomes on the items."""
    return ml.fit(of, evaluation(properties), **OPTIONS | options)


@contextmanager
def exactly(error, message):
    """Expect an error of this very type, with this message and no other word."""
    with pytest.raises(error) as caught:
        yield
    assert type(caught.value) is error
    assert str(caught.value) == message, str(caught.value)


def fault(name, call, error, message):
    """A fault, and what is to come of it."""
    return pytest.param(call, error, message, id=name)


def same_draws(one, other):
    """Whether two fits of a layout hold the same bits."""
    return one.subjects == other.subjects and one.posterior.equals(other.posterior)
