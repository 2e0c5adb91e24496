"""One subject's convergence is what its row of diagnostics says, and its faults are named."""

import numpy as np
import pytest

from measurement_layouts.inference.sampling.convergence import Convergence, convergence, faults
from measurement_layouts.inference.sampling.draws import Draws


def drawn(fit, subject):
    """One subject's draws, as the sampler gave them."""
    groups = (fit.posterior, fit.data["sample_stats"].to_dataset())
    return Draws(
        *(
            {name: group[name].sel(subject=subject).to_numpy() for name in group.data_vars}
            for group in groups
        )
    )


def test_one_subject_is_as_its_row(fitted):
    table = fitted.diagnostics()
    for subject in fitted.subjects:
        found = convergence(drawn(fitted, subject))
        row = table.loc[subject]
        assert found.divergences == row["divergences"]
        assert found.rhat == pytest.approx(row["rhat"], rel=1e-12)
        assert found.ess == pytest.approx(row["ess"], rel=1e-12)
        assert "; ".join(faults(found, chains=2)) == row["reason"].split("; all ")[0]


def test_the_worst_element_counts(rng):
    good, labelled = rng.normal(size=(4, 200)), rng.normal(size=(4, 200, 3))
    flags = np.zeros((4, 200), dtype=bool)
    flags[1, :5] = True
    fine = convergence(Draws({"a": good, "b": labelled}, {"diverging": flags}))
    assert (fine.divergences, fine.rhat < 1.01, fine.ess > 400) == (5, True, True)
    labelled[3, :, 1] += 1
    worse = convergence(Draws({"a": good, "b": labelled}, {"diverging": flags}))
    assert worse.rhat > 1.1
    labelled[..., 2] = 0.5
    assert np.isnan(convergence(Draws({"a": good, "b": labelled}, {"diverging": flags})).rhat)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (Convergence(0, 1.01, 400), []),
        (Convergence(2, 1.0, 900), ["2 divergences: raise target_accept or reparametrise"]),
        (Convergence(0, 1.0123, 900), ["R-hat 1.0123 above 1.01: draw more"]),
        (Convergence(0, 1.0, 399.4), ["effective sample size 399 below 400: draw more"]),
        (
            Convergence(1, np.nan, np.nan),
            [
                "1 divergence: raise target_accept or reparametrise",
                "R-hat unknown: it needs at least 2 chains that move",
                "effective sample size unknown: it needs chains that move",
            ],
        ),
    ],
)
def test_faults(found, words):
    assert faults(found, chains=4) == words
