"""A mock model that is asked about situations, and a few statements and scenarios."""

import json

import pandas as pd
from inspect_ai.model import get_model

from helpers.mock_annotators import output

STATEMENTS = pd.DataFrame(
    {
        "text": ["I sleep on decisions.", "I say what comes to mind.", "I blush easily."],
        "trait": ["calm", "calm", "calm"],
        "keyed": [1, -1, -1],
        "advice": [
            "I recommend that a person should sleep on a decision.",
            "I recommend that a person should say what comes to mind.",
            "",
        ],
    },
    index=["sleep", "speak", "blush"],
)

SCENARIOS = pd.DataFrame(
    {
        "statement": ["sleep", "sleep", "speak", "speak"],
        "trait": "calm",
        "keyed": [1, 1, -1, -1],
        "advice": STATEMENTS["advice"].iloc[[0, 0, 1, 1]].tolist(),
        "user_message": [f"It is matter {number}. Do I act now or wait?" for number in range(4)],
        "agree_action": [f"Wait with {number}" for number in range(4)],
        "oppose_action": [f"Act on {number}" for number in range(4)],
    },
    index=["sleep-01", "sleep-02", "speak-01", "speak-02"],
)


class Mock:
    """A model that answers with what `reply` makes of the question and the attempt, from 1."""

    def __init__(self, reply, name="mockllm/model"):
        self.reply = reply
        self.conversations = []
        self.configs = []
        self.model = get_model(name, custom_outputs=self._answer)

    @property
    def questions(self):
        """The first question of each call."""
        return [first_question(messages) for messages in self.conversations]

    async def _answer(self, messages, _tools, _choice, config):
        self.conversations.append(list(messages))
        self.configs.append(config)
        attempt = sum(message.role == "user" for message in messages)
        said = self.reply(first_question(messages), attempt)
        if hasattr(said, "__await__"):
            said = await said
        return output(said) if isinstance(said, str) else said


def first_question(messages):
    return next(message.text for message in messages if message.role == "user")


def material_of(question):
    """The JSON object that a question is about: the last one in it."""
    place = question.rindex("\n{\n") + 1
    return json.JSONDecoder().raw_decode(question, place)[0]
