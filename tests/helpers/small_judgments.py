"""A small study whose every rate is worked out by hand.

Two traits, three statements, six scenarios, ten raters, two models. Statement `hide` is
reverse-scored: opposing it shows the trait.

=========  =========  =========  =====  =====  ======  =======  ====  ========  ========  =====
scenario   trait      statement  keyed  agree  oppose  neutral  n/a   positive  negative  rate
=========  =========  =========  =====  =====  ======  =======  ====  ========  ========  =====
exam       empathy    shoes          1     10       0        0     0      10         0    1.0
visit      empathy    shoes          1      5       3        2     0       6         4    0.6
tears      empathy    hide          -1      1       8        0     1       8         1    8 / 9
letter     empathy    hide          -1      6       3        1     0     3.5       6.5    0.35
salary     assertion  speak          1      5       5        0     0       5         5    0.5
queue      assertion  speak          1      1       8        1     0     1.5       8.5    0.15
=========  =========  =========  =====  =====  ======  =======  ====  ========  ========  =====

Samples, as agree, oppose and undecided of 20. `blunt` has 9 decided ones on `queue`, one too few.

=========  ===========  =================  ===========  =================
scenario   calm         rate               blunt        rate
=========  ===========  =================  ===========  =================
exam       20, 0, 0     1                  14, 6, 0     0.7
visit      19, 0, 1     1                  4, 12, 4     0.25
tears      2, 18, 0     18 / 20 = 0.9      16, 4, 0     4 / 20 = 0.2
letter     0, 20, 0     20 / 20 = 1        10, 10, 0    0.5
salary     5, 15, 0     0.25               20, 0, 0     1
queue      0, 18, 2     0                  6, 3, 11     dropped
=========  ===========  =================  ===========  =================
"""

import pandas as pd

import measurement_layouts.dispositions as dispositions

SCENARIOS = [
    ("exam", "empathy", "shoes", 1),
    ("visit", "empathy", "shoes", 1),
    ("tears", "empathy", "hide", -1),
    ("letter", "empathy", "hide", -1),
    ("salary", "assertion", "speak", 1),
    ("queue", "assertion", "speak", 1),
]
VOTES = {  # one letter per rater r0 to r9: agree, oppose, neutral, not applicable
    "exam": "aaaaaaaaaa",
    "visit": "aaaaaooonn",
    "tears": "aooooooooN",
    "letter": "aaaaaaooon",
    "salary": "aoaoaoaoao",
    "queue": "aoooooooon",
}
SAMPLES = {
    "calm": [(20, 0, 0), (19, 0, 1), (2, 18, 0), (0, 20, 0), (5, 15, 0), (0, 18, 2)],
    "blunt": [(14, 6, 0), (4, 12, 4), (16, 4, 0), (10, 10, 0), (20, 0, 0), (6, 3, 11)],
}
RATINGS = {  # not reverse-scored; calm was asked twice about `hide`
    "calm": [("shoes", 7), ("hide", 2), ("hide", 3), ("speak", 4)],
    "blunt": [("shoes", 3), ("hide", 6), ("speak", 6.5)],
}
HUMAN_RATES = [1.0, 0.6, 8 / 9, 0.35, 0.5, 0.15]
MODEL_RATES = [1.0, 1.0, 0.9, 1.0, 0.25, 0.0, 0.7, 0.25, 0.2, 0.5, 1.0]


def scenarios():
    """Give the scenarios, with what was said in them."""
    table = pd.DataFrame(SCENARIOS, columns=["scenario", "trait", "statement", "keyed"])
    return table.assign(user_message=[f"About the {name}?" for name in table["scenario"]])


def votes():
    """Give a row per vote."""
    words = {"a": "agree", "o": "oppose", "n": "neutral", "N": "n/a"}
    rows = [
        (scenario, f"r{rater}", words[letter])
        for scenario, letters in VOTES.items()
        for rater, letter in enumerate(letters)
    ]
    return pd.DataFrame(rows, columns=["scenario", "rater", "vote"])


def raters():
    """Give what is known of the raters; of r0 the age is not."""
    ages = [None, *range(21, 30)]
    nationality = ["US", "UK"] * 5
    names = [f"r{place}" for place in range(10)]
    return pd.DataFrame({"rater": names, "nationality": nationality, "age": ages})


def samples():
    """Give a row of counts per model and scenario."""
    rows = [
        (model, scenario, *row)
        for model, counts in SAMPLES.items()
        for (scenario, *_), row in zip(SCENARIOS, counts, strict=True)
    ]
    return pd.DataFrame(rows, columns=["model", "scenario", "agree", "oppose", "undecided"])


def ratings():
    """Give a row per self-report."""
    rows = [(model, *said) for model, every in RATINGS.items() for said in every]
    return pd.DataFrame(rows, columns=["model", "statement", "rating"])


def judgments():
    """Read all of it."""
    return dispositions.SituationalJudgments.from_long(
        scenarios(), votes(), samples(), ratings(), raters=raters()
    )
