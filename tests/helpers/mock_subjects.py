"""Mock models that answer questions with options in ways that a test lays down beforehand."""

import re
from collections import Counter

import pandas as pd
from inspect_ai.model import get_model

from helpers.mock_annotators import output
from helpers.mock_situations import material_of

LETTERS = "ABC"
WAYS = {  # what each way of answering says, given the letter it has in mind, at each attempt
    "form": [lambda letter: f"Weighing it up.\n**Answer: {letter}**"],
    "prose": [lambda letter: f"I would go for number {letter.lower()}{letter.lower()} there."],
    "vague": [lambda _: "All of them have something to them."],
    "twice": [lambda letter: f"Answer: {letter} or {other(letter)}"],
    "twice, then one": [
        lambda letter: f"Answer: {letter}\nAnswer: {other(letter)}",
        lambda letter: f"Answer: Option {letter}",
    ],
    "unknown, then prose": [
        lambda _: "Answer: E",
        lambda letter: f"Then {letter.lower()}{letter.lower()} it is.",
    ],
    "silent": [lambda _: "  "],
    "silent, then one": [lambda _: "", lambda letter: f"{letter}"],
}
"""By name: texts; the last one is said at every further attempt, too."""


def other(letter):
    return LETTERS[LETTERS.index(letter) - 1]


def choice_items(count):
    """Items whose right option is A, B and C in turn, with bands of three widths."""
    numbers = range(count)
    return pd.DataFrame(
        {
            "question": [f"Question {number}: which?" for number in numbers],
            **{letter: [f"the {letter * 2} of {n}" for n in numbers] for letter in LETTERS},
            "right": [LETTERS[number % 3] for number in numbers],
            "low": [-(number % 3) for number in numbers],
            "high": [number % 4 for number in numbers],
        },
        index=[f"i{number}" for number in numbers],
    )


class Subject:
    """A model that answers each question in a way, and with an option, laid down by prompt."""

    def __init__(self, plan, name="mockllm/subject"):
        self.plan = plan  # (system prompt or "", number of the question) -> (way, letter)
        self.asked = Counter()
        self.model = get_model(name, custom_outputs=self._answer)

    async def _answer(self, messages, _tools, _choice, _config):
        system = messages[0].text if messages[0].role == "system" else ""
        question = next(message.text for message in messages if message.role == "user")
        number = int(re.match(r"Question (\d+)", question)[1])
        way, letter = self.plan(system, number)
        attempt = self.asked[system, number]
        self.asked[system, number] += 1
        said = WAYS[way][min(attempt, len(WAYS[way]) - 1)](letter)
        return output(said)


class Judge:
    """A judge that finds the letter said twice in prose, or once in the form, but where it errs."""

    def __init__(self, errs=lambda question: False):
        self.errs, self.asked = errs, []
        self.model = get_model("mockllm/judge", custom_outputs=self._answer)

    async def _answer(self, messages, _tools, _choice, _config):
        seen = material_of(messages[-1].text)
        self.asked.append(seen)
        found = re.search(r"\b([abc])\1\b", seen["answer"]) or re.search(
            r"(?:Answer: (?:Option )?|^)([ABC])\b", seen["answer"]
        )
        letter = found[1].upper() if found else "none"
        letter = other(letter) if found and self.errs(seen["question"]) else letter
        return output(f'{{"explanation": "So it says.", "option": "{letter}"}}')
