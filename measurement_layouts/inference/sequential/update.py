"""Update of a fit with more outcomes of its subjects."""

import json
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from typing import Literal

import numpy as np
import pandas as pd

from ...common.cache import check_pytensor_folder
from ...common.errors import DataError, FitError
from ...common.messages import some
from ...common.options import whole
from ...common.progress import track, waiting
from ...evaluations.evaluation import Evaluation
from ...evaluations.given import refuse_no_evaluation
from ...evaluations.steps import Rows, expanded
from ...evaluations.subject_data import SubjectData
from ...evaluations.tables import name_cells
from ...layouts import Layout
from ..fit import Fit
from ..forecasts.roster import refuse_changed
from ..forecasts.support import defined_columns, features_of_items
from ..given import refuse_no_fit
from ..model.features import read_evaluation
from ..model.prior import draw_prior
from ..posterior.assembly import UPDATED, Training, Tried, assemble, marks
from ..posterior.posterior import Posterior
from ..sampling.draws import Draws, Sampled, SamplingOptions
from ..sampling.engine import Battery, compile_sampler
from ..sampling.executors import WorkerDied, choose_executor, run_jobs
from ..sampling.retries import sample_subject
from ..sampling.stopping import awaited_at_exit
from .carrying import carry_on

_STATISTICS = ("diverging", "lp")  # statistics that all draws have, sampled or updated


def update(
    fit: Fit,
    more_outcomes: Evaluation,
    *,
    seed: int | None = None,
    n_jobs: int | None = None,
    progressbar: bool = True,
) -> Fit:
    r"""Update a fit with more outcomes of its subjects, on items of the fit or new items.

    Draws :math:`\theta_s` of a subject are weighted by its new outcomes,

    .. math:: w_s \propto p(y_{new} \mid \theta_s),

    resampled by these weights, and moved by Metropolis steps for the posterior of all outcomes,
    which makes them distinct. If this is not accurate, the subject is sampled again as `fit` does:
    if Pareto k of the weights is above 0.7, if they leave fewer than 100 effective draws per chain,
    if the draws had not converged, or if they do not mix within 32 moves. Subjects without new
    outcomes keep their draws.

    Parameters
    ----------
    fit : Fit
        A fit that is not joint.
    more_outcomes : Evaluation
        New outcomes of subjects of the fit. Items without outcomes are ignored.
    seed : int, optional
        Seed of the resampling, the moves and subjects that are sampled again (default: the seed of
        the fit).
    n_jobs : int, optional
        Number of subjects sampled at a time, as in `fit`.
    progressbar : bool
        Whether to show the number of subjects done and the remaining time.

    Returns
    -------
    Fit
        A fit of all outcomes, with the same numbers of chains and draws. Its `diagnostics` have a
        column ``update`` with what was done for each subject, and why.

    Raises
    ------
    DataError
        When `more_outcomes` is something else, such as a table, a subject is not in the fit, an
        outcome is in it already, or an item lacks a column, lies outside a range, or is in the fit
        with other properties.
    FitError
        When `fit` is something else or joint, or its seed or `n_jobs` is not a whole number.

    References
    ----------
    Chopin (2002), A sequential particle filter method for static models; Vehtari, Simpson, Gelman,
    Yao and Gabry (2024), Pareto smoothed importance sampling.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> everything = aaio.simulated_cohort().evaluation.select(subjects=["sim-01"])
    >>> names = everything.items.index
    >>> first = fit(aaio.recommended_layout(), everything.select(items=names[:66]),
    ...             draws=1000, tune=500, seed=1, progressbar=False)
    >>> later = update(first, everything.select(items=names[66:]), progressbar=False)
    >>> later
    <Fit of 'animal-ai-olympics-recommended': 1 subject, 4 chains of 1000 draws, 0 failed>
    >>> print(later.diagnostics().loc["sim-01", "update"])
    carried on: Pareto k ...
    """
    refuse_no_fit(fit)
    refuse_no_evaluation(more_outcomes, "more_outcomes")
    _refuse_joint(fit)
    found = int(fit.data.attrs["seed"]) if seed is None else whole("seed", seed)
    executor = choose_executor(None if n_jobs is None else whole("n_jobs", n_jobs, 1))
    layout = fit.layout
    before, after = _joined(fit, more_outcomes)
    battery = Battery.of(layout, after)
    check_pytensor_folder()
    told = dict.fromkeys(fit.subjects, "as it was: no new outcomes")
    results = {
        name: Sampled(name, _draws(fit, name), fit.attempts.get(name, 1)) for name in fit.subjects
    }
    todo = [name for name in fit.subjects if name in more_outcomes.subjects]
    options = SamplingOptions(
        fit.posterior.sizes["draw"],
        int(fit.data.attrs["tune"]),
        fit.posterior.sizes["chain"],
        float(fit.data.attrs["target_accept"]),
    )
    with waiting("compiling the layout", show=progressbar):
        compile_sampler(battery)
    shared = executor.share(battery)
    job = partial(
        _update_subject,
        options=options,
        seed=found,
        cores=max(1, min(options.chains, executor.workers // max(1, len(todo)))),
        method="grid" if fit.data.attrs["method"] == "grid" else "nuts",
    )

    def arguments(name: str) -> tuple[object, ...]:
        own = (SubjectData.of(outcomes, name) for outcomes in (before, after))
        return shared, name, *own, results[name].draws

    done = run_jobs(executor, job, todo, arguments)
    watched = track(done, total=len(todo), show=progressbar)
    with closing(done), closing(watched):
        for name, outcome in watched:
            if isinstance(outcome, WorkerDied):
                outcome = Sampled(name, None, reason=outcome.reason), "failed"
            results[name], told[name] = outcome
    return Fit.of(_assembled(fit, battery, after, results, told, options, found))


@awaited_at_exit()
def _update_subject(
    battery: Battery,
    subject: str,
    before: SubjectData,
    after: SubjectData,
    draws: Draws,
    options: SamplingOptions,
    seed: int,
    cores: int,
    method: Literal["nuts", "grid"],
) -> tuple[Sampled, str]:
    """Update one subject's draws or sample them again; also return which was done, and why."""
    carried = carry_on(battery, subject, before, after, draws, seed)
    if carried.draws is not None:
        return Sampled(subject, carried.draws), f"carried on: {carried.why}"
    anew = sample_subject(battery, subject, after, options, seed, cores, 1, method)
    return anew, f"sampled anew: {carried.why}"


def _refuse_joint(fit: Fit) -> None:
    if fit.layout.joint:
        raise FitError(
            f"layout {fit.layout.name!r} is fitted to all subjects together, so that an outcome of "
            "one subject changes the profiles of all, and draws cannot be updated one subject at a "
            "time; fit all outcomes again with fit(layout, outcomes + more_outcomes), or a new "
            "subject alone with fit.newcomer"
        )


def _joined(fit: Fit, more: Evaluation) -> tuple[Evaluation, Evaluation]:
    """Return the outcomes of a fit, and all outcomes, on the same items and subjects.

    Raises
    ------
    DataError
        When a subject is not in the fit, an outcome is in it already, or items do not fit.
    """
    unknown = [
        f"{name} ({fit.failures[name]})" if name in fit.failures else name
        for name in more.subjects
        if name not in fit.subjects
    ]
    if unknown:
        raise DataError(
            f"outcomes of {len(unknown)} subject(s) that are not in the fit: {some(unknown)}; it "
            f"has {some(fit.subjects)}: leave the others out (more_outcomes.select(subjects=...)) "
            "or fit them separately"
        )
    layout, old = fit.layout, _training(fit)
    features = read_evaluation(layout, more)
    shared = more.items.index.intersection(old.items.index, sort=False)
    here = more.items.index.get_indexer(shared)
    there = old.items.index.get_indexer(shared)
    constants = fit.constants
    refuse_changed(
        "item",
        shared,
        layout.meta_features,
        {name: values[here] for name, values in features.items()},
        {node.name: constants[node.name].to_numpy()[there] for node in layout.meta_features},
    )
    tried = more.trials[shared] * (old.trials.loc[more.subjects, shared] > 0)
    if tried.to_numpy().any():
        cells = name_cells(tried, tried.to_numpy() > 0, "{} on {}")
        raise DataError(
            f"{(tried.to_numpy() > 0).sum()} outcome(s) are in the fit already: {cells}; give only "
            "new outcomes, or, if these are further attempts, fit all counts together: "
            "Evaluation(items, successes, trials)"
        )
    items = more.items.copy()
    items.loc[shared, old.items.columns] = old.items.loc[shared]
    attempted = more.item_table.index
    if more.rows is None:
        attempted = more.items.index[more.trials.to_numpy().any(axis=0)]
    added = Evaluation(items[old.items.columns], more.successes, more.trials)
    after = old + added.select(items=attempted)
    none = old.trials.reindex(columns=after.items.index, fill_value=0)
    won = old.successes.reindex(columns=after.items.index, fill_value=0)
    return Evaluation(after.items, won, none), after


def _training(fit: Fit) -> Evaluation:
    """Return the training data of a fit as an evaluation."""
    layout = fit.layout
    rows = pd.Index(fit.observed.indexes["item"].map(str), dtype="str", name="item")
    names = rows if layout.steps is None else Rows.read(rows).items
    columns = [column for node in layout.meta_features for column in node.columns]
    values = defined_columns(layout, features_of_items(fit), len(names))
    items = pd.DataFrame(values, names, columns)
    if layout.steps is not None:
        items = expanded(layout.steps, items)
    successes, trials = (pd.DataFrame(count, fit.subjects, rows) for count in fit.counts)
    return Evaluation(items, successes, trials)


def _draws(fit: Fit, subject: str) -> Draws:
    """Read a subject's draws."""
    (row,) = fit.places([subject])
    posterior, statistics = fit.posterior, fit.data["sample_stats"].to_dataset()
    return Draws(
        {
            latent.name: posterior[latent.name].variable[row].to_numpy()
            for latent in fit.layout.latents
        },
        {name: statistics[name].variable[row].to_numpy() for name in _STATISTICS},
    )


def _assembled(
    fit: Fit,
    battery: Battery,
    evaluation: Evaluation,
    results: Mapping[str, Sampled],
    told: Mapping[str, str],
    options: SamplingOptions,
    seed: int,
) -> Posterior:
    """Assemble all subjects' draws as a fit."""
    layout: Layout = fit.layout
    there = {name: own.draws for name, own in results.items() if own.draws is not None}
    if not there:
        raise FitError(
            f"sampling failed for all {len(results)} subject(s); first reason: "
            f"{next(iter(results.values())).reason}"
        )
    posterior = {
        latent.name: np.stack([draws.posterior[latent.name] for draws in there.values()])
        for latent in layout.latents
    }
    statistics = {
        name: np.stack([draws.statistics[name] for draws in there.values()]) for name in _STATISTICS
    }
    failed = {
        name: Tried(fit.attempts.get(name, 1), reason) for name, reason in fit.failures.items()
    }
    return assemble(
        layout,
        Training.of(layout, battery.features, evaluation, there),
        {name: drawn[None] for name, drawn in draw_prior(layout).items()},
        posterior,
        statistics,
        marks(layout, options, seed, fit.data.attrs["method"]) | {UPDATED: json.dumps(told)},
        {name: Tried.of(own) for name, own in results.items()} | failed,
    )
