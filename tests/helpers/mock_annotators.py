"""Annotators that answer as a test says, through inspect-ai's mock model."""

import re
from collections import Counter

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
