"""Seeds of subjects, which depend on their names and not on other subjects."""

import hashlib

import numpy as np


def subject_seed(seed: int, subject: str) -> int:
    """Return a seed that depends on the seed and the subject's name only.

    Examples
    --------
    >>> subject_seed(1, "Ann") == subject_seed(1, "Ann") != subject_seed(1, "Bob")
    True
    """
    name = int.from_bytes(hashlib.sha256(subject.encode()).digest()[:8])
    return int(np.random.SeedSequence([seed, name]).generate_state(1, np.uint64)[0] >> 1)
