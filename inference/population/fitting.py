"""Fit a joint layout: all subjects at once, a chain at a time."""

from contextlib import closing
from pathlib import Path

import numpy as np

from ...common.errors import FitError
from ...common.progress import track, waiting
from ...evaluations.evaluation import Evaluation
from ...layouts import Layout
from ..files.chains import ChainStore
from ..model.cohort import Cohort
from ..model.prior import draw_prior
from ..posterior.assembly import Training, Tried, assemble, marks
from ..posterior.posterior import Posterior
from ..sampling.draws import Draws, SamplingOptions
from ..sampling.executors import Executor, WorkerDied, run_jobs
from ..sampling.joint_nuts import joined, joint_form, sample_chain


def fit_jointly(
    layout: Layout,
    evaluation: Evaluation,
    options: SamplingOptions,
    seed: int | None,
    store: str | Path | None,
    executor: Executor,
    progressbar: bool,
) -> Posterior:
    """Fit all subjects together; parameters and errors as in `fitting.fit`.

    A chain is the unit: it has a random stream of its own, is written to the store as it finishes,
    and is sampled wherever there is a free worker.
    """
    cohort = Cohort.of_evaluation(layout, evaluation)
    draw_prior(layout)  # a prior that cannot be drawn from is refused before the sampler starts
    with waiting("compiling the layout", show=progressbar):
        joint_form(cohort)
    with ChainStore.open(store, cohort, options, seed) as kept:
        chains = {f"chain {number + 1}": number for number in range(options.chains)}
        todo = [chain for chain in chains if chains[chain] not in kept.finished]
        shared = executor.share(cohort)

        def arguments(chain: str) -> tuple[object, ...]:
            return shared, chain, chains[chain], options, kept.seed

        failures = []
        found = run_jobs(executor, sample_chain, todo, arguments)
        watched = track(
            found,
            total=len(chains),
            show=progressbar,
            before=len(chains) - len(todo),
            not_converged=lambda done: isinstance(done[1], WorkerDied),
        )
        with closing(found), closing(watched):
            for chain, sampled in watched:
                if isinstance(sampled, WorkerDied) or sampled.draws is None:
                    failures.append(f"{chain}: {sampled.reason}")
                else:
                    kept.add(chains[chain], sampled.draws)
        if failures:
            raise FitError(
                f"{len(failures)} of {options.chains} chains failed ({failures[0]}); those that "
                "are finished are kept where there is a store: run the same call again"
            )
        draws = [kept.read(number) for number in range(options.chains)]
        return assembled(cohort, evaluation, draws, options, kept.seed)


def assembled(
    cohort: Cohort,
    evaluation: Evaluation,
    chains: list[Draws],
    options: SamplingOptions,
    seed: int,
) -> Posterior:
    """Put the chains of a joint fit into one tree."""
    layout = cohort.layout
    chosen = evaluation.select(items=cohort.levels["item"])
    posterior, statistics = joined(chains, layout)
    count = len(cohort.levels["subject"])
    return assemble(
        layout,
        Training.of(layout, cohort.features, chosen),
        {name: drawn[None] for name, drawn in draw_prior(layout).items()},
        posterior,
        {
            name: np.broadcast_to(values, (count, *values.shape))
            for name, values in statistics.items()
        },
        marks(layout, options, seed, "nuts"),
        {subject: Tried(1, None) for subject in cohort.levels["subject"]},
        cohort,
    )
