"""Annotators that answer as a test says, through inspect-ai's mock model."""

import re
from collections import Counter, defaultdict

from inspect_ai.model import ModelOutput, ModelUsage, get_model

ITEMS = {name: f"The item {name}. A: one thing. B: another." for name in "abcdef"}
GOOD = "0: STAYS\n1: LEAVES\n\nInterval: [-2, 1]"


def output(text, *, stop_reason="stop", tokens=(100, 10), **cached):
    made = ModelOutput.from_content("mock", text, stop_reason=stop_reason)
    total = sum(tokens) + sum(cached.values())
    made.usage = ModelUsage(
        input_tokens=tokens[0], output_tokens=tokens[1], total_tokens=total, **cached
    )
    return made


class Mock:
    """A model that answers with what `reply` makes of an item's name and the attempt, from 1."""

    def __init__(self, reply=lambda item, attempt: GOOD):
        self.reply = reply
        self.calls = Counter()
        self.conversations = []
        self.model = get_model("mockllm/model", custom_outputs=self._answer)

    async def _answer(self, messages, _tools, _choice, _config):
        item = re.search(r"The item (\w+)\.", messages[1].text)[1]
        self.calls[item] += 1
        self.conversations.append(list(messages))
        said = self.reply(item, self.calls[item])
        if hasattr(said, "__await__"):
            said = await said
        return output(said) if isinstance(said, str) else said


class Sloppy:
    """A model of demands whose eight kinds of answers have equal shares, by "Question N" modulo 8.

    Never a level: 0 refuses, 1 answers nothing. A level when asked again: 2 is out of range, 3 is
    prose, 4 is nothing, 5 gives two levels in one line. At once: 6 corrects itself, so that its
    last level counts, and 7 answers. The level is N modulo 6.
    """

    def __init__(self):
        self.pages = defaultdict(list)
        self.model = get_model("mockllm/model", custom_outputs=self._answer)

    async def _answer(self, messages, _tools, _choice, _config):
        number = int(re.search(r"Question (\d+):", messages[1].text)[1])
        what = re.search(r"# (.*)\n", messages[1].text)[1]
        self.pages[what, number].append(messages[-1].text)
        label = "Unguessability" if what == "Unguessability" else "Level"
        right = f"So be it.\n{label}: {number % 6}"
        always = {0: "I would rather not say.", 1: "", 6: f"{label}: 3\nNo.\n{right}"}
        first = {
            2: f"{label}: 400",
            3: "This is a question of some weight, and I find it rather hard.",
            4: "",
            5: f"{label}: 0 or 5",
        }
        said = always if len(self.pages[what, number]) > 1 else always | first
        return output(said.get(number % 8, right))
