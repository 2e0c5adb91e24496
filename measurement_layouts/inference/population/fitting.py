"""Fit a joint layout to all subjects together; chains are sampled in parallel."""

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
from ..sampling.joint_nuts import joined, joint_form, mixes, sample_chain


def fit_jointly(
    layout: Layout,
    evaluation: Evaluation,
    options: SamplingOptions,
    seed: int | None,
    store: str | Path | None,
    executor: Executor,
    reruns: int,
    progressbar: bool,
) -> Posterior:
    """Fit all subjects together; parameters and errors as in `fitting.fit`.

    Each chain has its own random stream, is sampled by any free worker, and is written to the store
    when it is finished. If the chains do not agree or often diverge, all are sampled again with
    more care, at most `reruns` times.
    """
    cohort = Cohort.of_evaluation(layout, evaluation)
    draw_prior(layout)  # raises an error before the sampler starts if a prior cannot be drawn from
    with waiting("compiling the layout", show=progressbar):
        joint_form(cohort)
    kept = ChainStore.open(store, cohort, options, seed)
    shared = executor.share(cohort)

    def run(attempt: int) -> list[Draws]:
        """Sample the chains of an attempt that are not in the store, and return all."""
        missing = set(range(options.chains)) - kept.finished(attempt)
        names = {f"chain {number + 1}": number for number in sorted(missing)}

        def arguments(chain: str) -> tuple[object, ...]:
            return shared, chain, names[chain], options, kept.seed, attempt

        failures = []
        results = run_jobs(executor, sample_chain, names, arguments)
        watched = track(
            results,
            total=options.chains,
            show=progressbar,
            what="chains",
            before=options.chains - len(names),
            not_converged=lambda done: isinstance(done[1], WorkerDied),
        )
        with closing(results), closing(watched):
            for chain, sampled in watched:
                if isinstance(sampled, WorkerDied) or sampled.draws is None:
                    failures.append(f"{chain}: {sampled.reason}")
                else:
                    kept.add(names[chain], attempt, sampled.draws)
        if failures:
            raise FitError(
                f"{len(failures)} of {options.chains} chains failed ({failures[0]}); run the "
                "same call again: with store=, the finished chains are not sampled again"
            )
        return [kept.read(number, attempt) for number in range(options.chains)]

    attempt, draws = 1, run(1)
    while attempt <= reruns and not mixes(draws):
        attempt += 1
        draws = run(attempt)
    return assembled(cohort, evaluation, draws, options, kept.seed, attempt)


def assembled(
    cohort: Cohort,
    evaluation: Evaluation,
    chains: list[Draws],
    options: SamplingOptions,
    seed: int,
    attempts: int = 1,
) -> Posterior:
    """Assemble the chains of a joint fit as one posterior."""
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
        {subject: Tried(attempts, None) for subject in cohort.levels["subject"]},
        cohort,
    )
