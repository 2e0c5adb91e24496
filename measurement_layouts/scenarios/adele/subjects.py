"""The fifteen language models of the study."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Subject:
    """A language model that answered the battery.

    Attributes
    ----------
    family : {"OpenAI", "LLaMA", "DeepSeek"}
        Family of the model; those of DeepSeek are distilled.
    accuracy : float
        Published mean success on the whole battery, in [0, 1].
    parameters : float or None
        Number of parameters in thousands of millions; None if it is not public.
    reasons : bool
        Whether it was trained to reason before it answers.
    """

    family: str
    accuracy: float
    parameters: float | None = None
    reasons: bool = False

    @property
    def distilled(self) -> bool:
        """Whether a smaller model was taught by a larger one."""
        return self.family == "DeepSeek"


SUBJECTS = {
    "Babbage-002": Subject("OpenAI", 0.102, 1.3),
    "Davinci-002": Subject("OpenAI", 0.157, 175),
    "GPT-3.5-Turbo": Subject("OpenAI", 0.414),
    "GPT-4o": Subject("OpenAI", 0.713),
    "OpenAI o1-mini": Subject("OpenAI", 0.770, reasons=True),
    "OpenAI o1": Subject("OpenAI", 0.843, reasons=True),
    "LLaMA-3.2-1B-Instruct": Subject("LLaMA", 0.216, 1),
    "LLaMA-3.2-3B-Instruct": Subject("LLaMA", 0.378, 3),
    "LLaMA-3.2-11B-Instruct": Subject("LLaMA", 0.463, 11),
    "LLaMA-3.2-90B-Instruct": Subject("LLaMA", 0.645, 90),
    "LLaMA-3.1-405B-Instruct": Subject("LLaMA", 0.683, 405),
    "DK-R1-Dist-Qwen-1.5B": Subject("DeepSeek", 0.353, 1.5, reasons=True),
    "DK-R1-Dist-Qwen-7B": Subject("DeepSeek", 0.555, 7, reasons=True),
    "DK-R1-Dist-Qwen-14B": Subject("DeepSeek", 0.698, 14, reasons=True),
    "DK-R1-Dist-Qwen-32B": Subject("DeepSeek", 0.748, 32, reasons=True),
}
"""Subjects by name in the paper's Table 3; accuracies are from there, sizes from Table 2."""
