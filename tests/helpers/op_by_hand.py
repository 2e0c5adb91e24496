"""The layouts of object permanence, written by hand in NumPy."""

import numpy as np

from measurement_layouts.scenarios.object_permanence.battery import COLOURS

OBSTACLES = ("ramp", "lava", "platform")


def sigma(x):
    return np.exp(-np.logaddexp(0, -x))  # 1 / (1 + exp(-x)), for any x


def mu(ability, flag):
    return 1 - (1 - ability) * flag


def published(v, *, ours=True):
    """Table 5's formulas; as printed, or as section 5.2 and appendix D.3 have them."""
    time = v["timeUnderOcc"] if ours else 4.0
    margin = v["OPAbility"] - time * v["numberOfPositions"]
    memory = sigma(v["memoryAbility"] - v["timeUnderOcc"])
    if ours:
        permanence = np.where(v["occluderPresence"] == 1, memory * sigma(margin), 1.0)
    else:
        permanence = memory * sigma(48.4 - (48.4 - margin) * v["occluderPresence"])
    found = {
        f"{what}Performance": mu(v[f"{what}Ability"], v[f"{what}Presence"]) for what in OBSTACLES
    }
    effect = v["rightLeftBias"] * v["rightLeftPosition"]
    flat = sigma(v["flatNavAbility"] - v["goalDistance"] + effect)
    navigation = np.prod([*found.values(), flat], axis=0)
    visual = sigma(v["visualAbility"] - (5 - v["goalSize"]))
    noise, passed = v["noiseLevel"], permanence * navigation * visual
    return {
        **found,
        "rightLeftEffect": effect,
        "flatNavPerformance": flat,
        "navigationPerformance": navigation,
        "memoryPerformance": memory,
        "OPPerformance": permanence,
        "visualAcuityPerformance": visual,
        "taskPerformance": (1 - noise) * passed + noise * v["meanFailure"],
    }


def recommended(v):
    remember = sigma(6 * (v["memoryAbility"] - v["timeUnderOcc"]))
    keep = sigma(v["OPSlope"] * (v["OPAbility"] - 4 * v["numberOfPositions"]))
    strategy = v["lastSeenStrategy"]
    find = (1 - strategy) * keep + strategy * (1 - v["rewardDeflected"])
    ignore = np.prod(
        [sigma(0.15 * (v[f"{c.lower()}Tolerance"] - v[f"occluder{c}"])) for c in COLOURS], axis=0
    )
    know = mu(remember * find * ignore, v["occluderPresence"])
    choose = sigma(v["straightAhead"] + v["rightLeftBias"] * v["rightLeftPosition"])
    obstacles = np.prod([mu(v[f"{w}Ability"], v[f"{w}Presence"]) for w in OBSTACLES], axis=0)
    navigate = obstacles * sigma(v["flatNavAbility"] - v["goalDistance"]) * choose
    see = sigma(v["visualSlope"] * (v["visualAbility"] - (5 - v["goalSize"])))
    context = np.prod(mu(v["paradigmAbility"], v["paradigm"]), axis=-1)
    context = context * mu(v["similarAbility"], v["similarPositions"])
    return (1 - v["noiseLevel"]) * know * navigate * see * context + v["noiseLevel"] / 2
