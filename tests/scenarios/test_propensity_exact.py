"""Posteriors of the risk-aversion study by the default call, against sums over fine grids."""

import numpy as np
import pytest
from scipy import stats

import measurement_layouts as ml
from measurement_layouts.linking import band, uncertain_band
from measurement_layouts.scenarios.propensities import load, published_layout, recommended_layout


def fine(low, high, even=40_001, near=6000, far=4):
    """Places down to 1e-14 from the end of every band, and the length that each stands for."""
    centre, half = (low + high) / 2, np.maximum(high - low, 0.1) / 2
    beside = np.logspace(-14, 0, near)
    ends = np.append(centre - half, centre + half)[:, None]
    line = np.unique(
        np.concatenate([np.linspace(-far, far, even), *(ends - beside), *(ends + beside)])
    )
    line = line[abs(line) <= far]
    return line, np.gradient(line)


@pytest.mark.slow
@pytest.mark.parametrize("make", [published_layout, recommended_layout])
def test_no_subject_of_the_risk_study_is_far_from_exact(make, risk_data):
    """The default call, against sums over fine grids: 0 of 96 far off and not flagged.

    Far: .05 sd, or .02 of probability above 0. The sides of some bands are 1e-9 wide.
    """
    study = load(risk_data)
    layout = make()
    fit = ml.fit(layout, study, draws=1000, chains=4, seed=1, progressbar=False)
    assert fit.data.attrs["method"] == "grid"
    place = next(latent.name for latent in layout.latents if latent.name != "noise")
    status = fit.diagnostics()["status"]
    reference = _by_kinds(study, make)
    far = []
    for name in study.subjects:
        mean, sd, above = reference(name)
        draws = fit.posterior[place].sel(subject=name).to_numpy()
        off = abs(draws.mean() - mean) / sd, 2.5 * abs((draws > 0.003).mean() - above)
        if max(off) > 0.05 and status[name] == "ok":
            far.append(name)
    assert far == []


def _by_kinds(study, make):
    """Mean, sd and mass above 0.003 of a subject's propensity, by a sum over a fine grid."""
    low, high = study.items["lower"].to_numpy(), study.items["upper"].to_numpy()
    kinds, kind = np.unique(np.stack([low, high]), axis=1, return_inverse=True)
    kind = kind.ravel()
    if make is published_layout:
        line, _ = fine(*kinds, even=9001, near=200, far=9)
        noise, weights = np.zeros(1), np.ones(1)
        inside = band(line[:, None], *kinds)
    else:
        line = np.linspace(-9, 9, 1801)
        nodes, weights = np.polynomial.legendre.leggauss(60)
        noise, weights = ((nodes + 1) / 2) ** 2, weights * (nodes + 1) / 2
        inside = uncertain_band(line[:, None], kinds[0] - 0.5, kinds[1] + 0.5, 0.5, 8)
        weights = weights * stats.beta.pdf(noise, 1, 9)
    edge = 1e-10 if make is published_layout else 1e-12
    chances = [np.clip(inside * (1 - share) + share / 3, edge, 1 - edge) for share in noise]
    tables = [(np.log(chance), np.log1p(-chance)) for chance in chances]
    base = stats.norm.logpdf(line, 0, 2)[:, None] + np.log(np.gradient(line))[:, None]

    def moments(name):
        right = np.bincount(kind, study.successes.loc[name])
        wrong = np.bincount(kind, study.trials.loc[name] - study.successes.loc[name])
        logs = base + np.stack([won @ right + lost @ wrong for won, lost in tables], axis=1)
        mass = (np.exp(logs - logs.max()) * weights).sum(axis=1)
        mass /= mass.sum()
        mean = mass @ line
        return mean, np.sqrt(mass @ (line - mean) ** 2), mass[line > 0.003].sum()

    return moments
