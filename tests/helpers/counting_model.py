"""A model for the lm-evaluation-harness, and its command: run by the Python that has lm-eval.

Asked `n + 1`, its first answer is right when n is even, all others when n is divisible by three.
"""

import random
import sys
from collections import Counter

from lm_eval.__main__ import cli_evaluate
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model


@register_model("counting")
class Counting(LM):
    def __init__(self, pretrained="", **_):
        super().__init__()
        self.asked = Counter()

    def generate_until(self, requests, disable_tqdm=False):
        return [self._answer(int(request.args[0].split()[0])) for request in requests]

    def _answer(self, number):
        self.asked[number] += 1
        right = number % 2 == 0 if self.asked[number] == 1 else number % 3 == 0
        return f"I say {number + 1 if right else 0}"

    def loglikelihood(self, requests, disable_tqdm=False):
        return [(-random.random(), False) for _ in requests]

    def loglikelihood_rolling(self, requests, disable_tqdm=False):
        raise NotImplementedError


if __name__ == "__main__":
    sys.exit(cli_evaluate())
