"""The layouts of the Animal-AI studies and of propensities, by hand."""

import numpy as np

from helpers.hand_densities import (
    Between,
    Hand,
    Line,
    LogNormal,
    Long,
    Positive,
    Share,
    Shown,
    sigma,
)
from helpers.op_by_hand import OBSTACLES, published, recommended

COLOURS = ("redness", "greenness", "blueness")


def animal_ai(v, items, failure):
    """Table 3 of Burden et al. (2023)."""
    far = items["rewardDistance"] * (items["rewardBehind"] / 2 + 1)
    navigate = sigma(v["navigationAbility"] - far + v["rightLeftBias"] * items["XPos"])
    see = sigma(v["visualAbility"] - items["rewardSize"])
    return (1 - v["noiseLevel"]) * navigate * see + v["noiseLevel"] * failure


def animal_ai_recommended(v, items, failure):
    turned = v["turningCost"] * items["rewardBehind"] - v["rightLeftBias"] * items["XPos"]
    spare = v["navigationAbility"] - (items["distance"] + turned)
    octaves = np.log2(items["distance"] / items["size"])
    navigate = sigma(v["navigationSlope"] * spare)
    see = sigma(v["visualSlope"] * (v["visualAbility"] - octaves))
    return (1 - v["noiseLevel"]) * navigate * see + v["noiseLevel"] / 2


def object_permanence(v, items, failure):
    """Table 5 of Burden et al. (2023), as section 5.2 corrects it."""
    return published({**v, **items, "meanFailure": failure})["taskPerformance"]


def object_permanence_recommended(v, items, failure):
    return recommended({**v, **items})


def band(theta, low, high):
    """Equation 5 of the propensities paper with slope 1, bands at least 0.1 wide."""
    middle, half = (low + high) / 2, np.maximum((high - low) / 2, Long(0.1) / 2)
    steep = np.exp(1 / half)  # 1 + e^(1/r) - 1
    inside = sigma(steep * (theta - middle + half)) * sigma(steep * (middle + half - theta))
    return inside / sigma(steep * half) ** 2


def propensity(v, items, failure):
    """The released code keeps chances 1e-10 from 0 and 1."""
    inside = band(v["propensity"], items["lower"], items["upper"])
    return np.clip(inside, 1e-10, 1 - 1e-10)


def propensity_recommended(v, items, failure):
    """Ends half a level out, each uniform within half a level; slope 8; one of three by chance."""
    low, high = items["lower"] - 0.5, items["upper"] + 0.5
    middle, half = (low + high) / 2, np.maximum((high - low) / 2, Long(0.1) / 2)
    steep = 8 + np.exp(1 / half) - 1

    def mean_logistic(x):
        """Of sigma(steep * (x - e)), e uniform within 0.5."""
        either = (np.logaddexp(Long(0), steep * (x + s)) for s in (Long(0.5), Long(-0.5)))
        return np.subtract(*either) / steep

    theta, peak = v["propensity"], sigma(steep * half) ** 2
    inside = mean_logistic(theta - middle + half) * mean_logistic(middle + half - theta) / peak
    return (1 - v["noise"]) * np.minimum(inside, 1) + v["noise"] / 3


ABILITIES = {f"{what}Ability": Between(0, 1) for what in OBSTACLES}
SHARED = {f"{what}Ability": Share(1, 2) for what in OBSTACLES}

HANDS = {
    "animal-ai-olympics, published layout": Hand(
        {
            "navigationAbility": Between(0, 5.3),
            "visualAbility": Between(0, 1.9),
            "rightLeftBias": Line(),
            "noiseLevel": Between(0, 1),
        },
        animal_ai,
    ),
    "animal-ai-olympics, recommended layout": Hand(
        {
            "navigationAbility": Between(-20, 80),
            "navigationSlope": LogNormal(-1.9, 0.5),
            "turningCost": Positive(10),
            "rightLeftBias": Line(0, 10),
            "visualAbility": Between(-1, 9),
            "visualSlope": LogNormal(0.5, 0.5),
            "noiseLevel": Share(1, 9),
        },
        animal_ai_recommended,
    ),
    "object-permanence, published layout": Hand(
        {
            "memoryAbility": Between(0, 4.8),
            "OPAbility": Between(0, 52.8),
            "visualAbility": Between(0, 6),
            "flatNavAbility": Between(0, 56),
            **ABILITIES,
            "rightLeftBias": Line(),
            "noiseLevel": Between(0, 1),
        },
        object_permanence,
    ),
    "object-permanence, recommended layout": Hand(
        {
            "memoryAbility": Shown(4.8),
            "OPAbility": Shown(52.8),
            "OPSlope": LogNormal(-1, 1.2),
            "visualAbility": Shown(6),
            "visualSlope": LogNormal(1, 0.5),
            "flatNavAbility": Shown(67.2),
            **SHARED,
            "lastSeenStrategy": Share(1, 2),
            "paradigmAbility": Between(0, 1),
            "similarAbility": Between(0, 1),
            "straightAhead": Line(4, 2),
            "rightLeftBias": Line(),
            **{f"{colour}Tolerance": Between(0, 306) for colour in COLOURS},
            "noiseLevel": Share(1, 9),
        },
        object_permanence_recommended,
        {"paradigmAbility": 3},
        constant=4 * 4e-10,
    ),
    "propensities, published layout": Hand({"propensity": Line(0, 2)}, propensity),
    "propensities, recommended layout": Hand(
        {"propensity": Line(0, 2), "noise": Share(1, 9)}, propensity_recommended
    ),
}
"""By scenario and layout."""
