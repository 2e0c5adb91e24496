"""A bank of items with its layout, and simulated subjects whose answers to all items are drawn.

Answers are drawn before any item is chosen, so that two ways to choose are told the same answer to
the same question.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

import measurement_layouts as ml
from measurement_layouts.inference.model.features import read_features
from measurement_layouts.inference.model.prior import sample_prior
from measurement_layouts.inference.simulate import expected_success
from measurement_layouts.layouts.elements import elements

MOST = 4_000
PROFILES, ANSWERS = 1, 2  # a stream for each


@dataclass(frozen=True, eq=False)
class Bank:
    """Items that can be asked, and who is asked.

    Attributes
    ----------
    name : str
        In tables.
    layout : Layout
        With the priors, from which the subjects' profiles are drawn.
    items : DataFrame
        A row per item, the layout's meta-features.
    judged : tuple of str
        Elements of the profile whose mean posterior sd, relative to the prior's, is the measure.
    reached : tuple of int
        Numbers of random items whose measure is to be reached.
    seed : int
        Of profiles and answers.
    """

    name: str
    layout: ml.Layout
    items: pd.DataFrame
    judged: tuple[str, ...]
    reached: tuple[int, ...]
    seed: int

    @cached_property
    def everybody(self) -> pd.DataFrame:
        """Profiles of all subjects, drawn from the prior."""
        return drawn(self.layout, MOST, self.seed + PROFILES)

    def profiles(self, subjects: int) -> pd.DataFrame:
        """Take the first of all subjects."""
        return self.everybody.iloc[:subjects]

    def answers(self, subjects: int) -> np.ndarray:
        """Draw the answers to all items, subjects x items; a random stream for each subject."""
        chances = self.chances(self.profiles(subjects))
        ranks = [
            np.random.default_rng([self.seed + ANSWERS, place]).random(len(self.items))
            for place in range(subjects)
        ]
        return (np.array(ranks) < chances).astype(int)

    def chances(self, profiles: pd.DataFrame) -> np.ndarray:
        """Compute the chances of success, profiles x items."""
        features = read_features(self.layout, self.items)
        return expected_success(self.layout, features, profiles, len(self.items))


def drawn(layout: ml.Layout, count: int, seed: int) -> pd.DataFrame:
    """Draw profiles from a layout's prior, a column per element."""
    values = [part.reshape(count, -1) for part in sample_prior(layout, count, seed).values()]
    names = [element.name for element in elements(layout)]
    subjects = [f"subject {place}" for place in range(count)]
    return pd.DataFrame(np.hstack(values), subjects, names)
