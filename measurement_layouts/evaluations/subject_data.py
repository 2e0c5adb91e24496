"""Data that the likelihood of one subject takes."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..common.errors import DataError
from ..common.messages import some
from ..linking import mean_failure
from .evaluation import Evaluation

EDGE = 1e-12
"""Least distance of probabilities from 0 and 1; one surprise then costs 27 nats."""


@dataclass(frozen=True)
class SubjectData:
    """Data of one subject: outcomes and constants.

    Attributes
    ----------
    successes, trials : ndarray of int, shape (items,)
        Outcomes.
    constants : mapping of str to float
        Value of each subject constant, by name.
    """

    successes: np.ndarray
    trials: np.ndarray
    constants: Mapping[str, float]

    @classmethod
    def of(cls, evaluation: Evaluation, subject: object) -> "SubjectData":
        """Take one subject's row of an evaluation.

        Raises
        ------
        DataError
            When the subject is unknown.
        """
        name = str(subject)
        if name not in evaluation.subject_table.index:
            raise DataError(f"unknown subject {name}; known: {some(evaluation.subjects)}")
        row = evaluation.subject_table.index.get_loc(name)
        successes, trials = evaluation.coded.counts(row)
        failure = float(1 - successes.sum() / trials.sum())
        return cls(successes, trials, {mean_failure.name: failure})
