"""Simulated shift: groups of items that are harder or easier by a normal offset.

A subject's ability is known from its posterior on a grid, and items' demands are known; a group of
items is harder by an offset of standard deviation one log-odds, which no layout knows. Groups are
left out in turn, and the mean success on one more group is forecast with an interval. Abilities
were estimated on ten groups, whose offsets have a mean of their own: the difference of a new group
from them has the standard deviation sqrt(1 + 1/10). Both are stated, the offset's and this one.

    python tests/benchmarks/elsewhere_shift.py --seeds 1000
"""

import argparse
import json
from collections.abc import Iterable

import numpy as np
from scipy.special import expit, log_expit, logit
from scipy.stats import norm

from measurement_layouts.inference.forecasts.elsewhere import Transfer, stated
from measurement_layouts.validation.prediction.misfit import parted, posterior_of_misfit

SUBJECTS, GROUPS, ITEMS, DRAWS, PROB = 6, 10, 10, 400, 0.9
ABILITIES = np.linspace(-8, 8, 321)


def posterior(successes, demands):
    """Draw abilities evenly from each subject's posterior; the prior is Normal(0, 2)."""
    margin = ABILITIES[:, None] - demands
    won, lost = log_expit(margin), log_expit(-margin)
    height = successes @ won.T + (1 - successes) @ lost.T + norm.logpdf(ABILITIES, 0, 2)
    mass = np.exp(height - height.max(axis=1, keepdims=True))
    total = np.cumsum(mass, axis=1)
    share = (np.arange(DRAWS) + 0.5) / DRAWS
    return np.stack([np.interp(share, own / own[-1], ABILITIES) for own in total])


def study(seed, shift_sd=1.0):
    """Simulate one study: for each kind of interval, the share of subjects whose mean it holds."""
    rng = np.random.default_rng(seed)
    ability = rng.normal(0, 1.5, SUBJECTS)
    demands = rng.normal(0, 1.5, (GROUPS + 1, ITEMS))
    shift = rng.normal(0, shift_sd, GROUPS + 1)
    chances = expit(ability[:, None, None] - demands - shift[:, None])
    successes = rng.binomial(1, chances)
    known = successes[:, :-1]
    left = []
    for group in range(GROUPS):
        rest = np.arange(GROUPS) != group
        own = posterior(known[:, rest].reshape(SUBJECTS, -1), demands[:-1][rest].ravel())
        log_odds = (rng.permutation(each) - demands[group][:, None] for each in own)
        left.append(parted(str(group), known[:, group], np.ones((SUBJECTS, ITEMS)), log_odds))
    centre = float(logit(known.mean()))
    draws = posterior_of_misfit(left, centre=centre, seed=seed, draws=DRAWS)
    abilities = posterior(known.reshape(SUBJECTS, -1), demands[:-1].ravel())
    home = [expit(rng.permutation(own) - demands[-1][:, None]) for own in abilities]
    truth = chances[:, -1].mean(axis=1)
    kinds = {
        "home": None,
        "widened": Transfer(draws, centre, None),
        "stated": stated(shift_sd),
        "stated difference": stated(shift_sd * np.sqrt(1 + 1 / GROUPS)),
    }
    found = {kind: [] for kind in kinds}
    scores = rng.standard_normal((SUBJECTS, DRAWS))
    common = rng.standard_normal(DRAWS)
    for kind, transfer in kinds.items():
        for subject, own in enumerate(home):
            moved = own
            if transfer is not None:
                of_items = rng.standard_normal((ITEMS, DRAWS))
                moved = transfer.moved(own, np.ones(ITEMS), [common, scores[subject], of_items])
            low, high = np.quantile(moved.mean(axis=0), [(1 - PROB) / 2, (1 + PROB) / 2])
            found[kind].append(low <= truth[subject] <= high)
    told = draws.mean().to_dict()
    held = draws["group_sd"].quantile([0.05, 0.95])
    return {kind: float(np.mean(own)) for kind, own in found.items()} | {
        "group_sd": told["group_sd"],
        "slope": told["slope"],
        "group_sd held": float(held.iloc[0] <= shift_sd <= held.iloc[1]),
    }


def rows(seeds: Iterable[int]) -> list[dict[str, object]]:
    """Run studies, and average how often intervals of a group's mean success hold it.

    Returns
    -------
    list of dict
        For each kind of interval: ``row``, ``coverage``, its ``se`` over studies, ``studies``, and
        whether it is .90 within 3 standard errors. Kinds: today's (``home``), ``widened`` by what
        leaving groups out told, and with the spread ``stated``, of a group's offset or of its
        difference from the groups of the fit. Also how often the 90 % interval of the group's
        spread holds the true one.
    """
    found = [study(seed) for seed in seeds]
    table = []
    for name in found[0]:
        own = np.array([each[name] for each in found])
        error = own.std(ddof=1) / np.sqrt(len(own))
        table.append(
            {
                "row": name,
                "mean": float(own.mean()),
                "se": float(error),
                "studies": len(own),
                "holds": bool(abs(own.mean() - PROB) <= 3 * error),
            }
        )
    return table


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1000, help="number of studies")
    for row in rows(range(parser.parse_args().seeds)):
        print(json.dumps(row))
