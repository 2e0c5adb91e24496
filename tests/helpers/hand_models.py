"""The layouts of studies of language models and of pupils, by hand."""

from dataclasses import replace

import numpy as np

from helpers.hand_densities import (
    Between,
    Deviation,
    Hand,
    Line,
    LogNormal,
    Long,
    Outcomes,
    Positive,
    Share,
    kept_off,
    log_sigma,
    mu,
    sigma,
    unlikely,
    ways,
)

DEMANDS, TASKS, SKILLS, TRAITS = 18, 17, 8, 4
LEAST = Long(1e-300)  # a part of a mean below this counts as this


# --- general scales -----------------------------------------------------------------------------


def additive(v, items, failure):
    asked = (v["weight"] * (items["demand"] - 2)).sum(axis=-1)
    unguessable = (items["unguessability"] - 85) / 100
    return sigma(v["ease"] - asked - v["unguessed"] * unguessable)


def parts(v, items):
    """Logarithm of the chance to meet each demand, by item and demand."""
    ability, slope = v["ability"], v["slope"]
    slope = slope if slope.ndim == 3 else slope[..., None]
    return np.log(np.maximum(np.exp(log_sigma(slope * (ability - items["demand"]))), LEAST))


def tried(joined):
    """Success by ability or by a guess, unless something else fails."""

    def success(v, items, failure):
        able, guess = joined(v, items), 1 - items["unguessability"] / 100
        return (1 - v["noise"]) * (guess + (1 - guess) * able)

    return success


ABILITIES = Hand(
    {
        "generalLevel": Line(4, 2),
        "scatter": LogNormal(-0.7, 0.7),
        "ability": Deviation("generalLevel", "scatter"),
        "slope": Positive(2),
        "noise": Share(1, 9),
    },
    tried(lambda v, items: np.exp(parts(v, items).sum(axis=-1))),
    {"ability": DEMANDS},
)
POOLED = replace(
    ABILITIES,
    latents={"usualSlope": Positive(2), **ABILITIES.latents, "slope": Positive("usualSlope")},
    labels={"ability": DEMANDS, "slope": DEMANDS},
)


# --- dispositions -------------------------------------------------------------------------------


def stances(v, items, failure):
    """Chance and weight of each place of what people would say, (points, items, places)."""
    places = np.linspace(Long(-4.8), Long(4.8), 121)
    spread = items["pullSpread"] * v["peoplesSpread"] ** items["pullSpreadError"]
    pull = items["commonPull"][:, None] + spread[..., None] * places
    yes, no = items["votesFor"][:, None], items["votesAgainst"][:, None]
    prior = -(places**2) / 2
    told = prior + yes * log_sigma(pull) + no * log_sigma(-pull)
    told, anew = share(told), share(prior)
    noise = v["noise"][..., None]
    lean = (v["disposition"] * items["trait"]).sum(axis=-1)
    chance = sigma(v["slope"][..., None] * (pull + lean[..., None]))
    return chance, np.maximum((1 - noise) * told + noise * anew, LEAST)


def share(logs):
    """Weights that add up to 1."""
    raised = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)


def by_place(found, outcomes):
    """Log-probability of an item's outcomes together with each place."""
    chance, weight = kept_off(found[0]), found[1]
    won, lost = outcomes.successes[:, None], (outcomes.trials - outcomes.successes)[:, None]
    return won * np.log(chance) + lost * np.log1p(-chance) + np.log(weight)


def averaged(found, outcomes):
    """Log-likelihood by item: all trials share the place."""
    each = by_place(found, outcomes)
    most = each.max(axis=-1)
    return ways(outcomes) + most + np.log(np.exp(each - most[..., None]).sum(axis=-1))


def unlikely_places(found, outcomes):
    """As `unlikely`, on average over the places that the outcomes point to."""
    at = Outcomes(outcomes.successes[:, None], outcomes.trials[:, None])
    return (unlikely(found[0], at) * share(by_place(found, outcomes))).sum(axis=-1)


# --- time horizons ------------------------------------------------------------------------------


def horizon(v, items, failure):
    return sigma(v["slope"] * (v["horizon"] - items["logHours"]))


def margin(v, items):
    ease = (v["ease"] * items["isTask"]).sum(axis=-1)
    return v["horizon"] + v["taskSpread"] * ease - items["logHours"]


def horizon_by_task(v, items, failure):
    return sigma(v["slope"] * margin(v, items))


def horizon_nested(v, items, failure):
    """Of those who reached the threshold below, where there is one."""
    spare = margin(v, items)
    below = items["nested"] * log_sigma(v["slope"] * (spare + items["step"]))
    return np.exp(log_sigma(v["slope"] * spare) - below)


BY_TASK = {
    "horizon": Line(1, 4),
    "taskSpread": Positive(2),
    "ease": Line(),
    "slope": LogNormal(0, 0.7),
}


# --- school problems and fractions --------------------------------------------------------------

CURVES = {
    "planning": ("steps", Line(10, 5), LogNormal(-0.7, 0.5)),
    "calculation": ("digits", Line(7, 3), LogNormal(0, 0.5)),
    "reading": ("doublings", Line(9, 3), LogNormal(0, 0.5)),
}


def solved(curves):
    """All of some curves are needed, and no slip."""

    def success(v, items, failure):
        found = 1 - v["slips"]
        for name, demand in curves.items():
            found = found * sigma(v[f"{name}Slope"] * (v[f"{name}Ability"] - items[demand]))
        return found

    latents = {"slips": Share(1, 9)}
    for name in curves:
        _, latents[f"{name}Ability"], latents[f"{name}Slope"] = CURVES[name]
    return Hand(latents, success)


def answered(mastery):
    """Guesses, slips, and all needed skills applied."""

    def success(v, items, failure):
        knows = np.prod(mu(mastery(v), items["needed"]), axis=-1)
        return v["guesses"] + (1 - v["guesses"]) * (1 - v["slips"]) * knows

    return success


RARE = {"slips": Share(1, 9), "guesses": Share(1, 9)}

HANDS = {
    "adele, recommended layout": Hand(
        {"ease": Line(0, 2), "weight": Line(0, 0.1), "unguessed": Line(0, 3)},
        additive,
        {"weight": DEMANDS},
    ),
    "adele, abilities, all needed": ABILITIES,
    "dispositions, recommended layout": Hand(
        {
            "peoplesSpread": LogNormal(0, 1),
            "noise": Between(0, 1),
            "disposition": Line(0, 2),
            "slope": LogNormal(0, 1),
        },
        stances,
        {"disposition": TRAITS},
        averaged,
        unlikely_places,
    ),
    "weirdml, published layout": Hand({"horizon": Between(-12, 16), "slope": Positive(2)}, horizon),
    "weirdml, recommended layout": Hand(BY_TASK, horizon_by_task, {"ease": TASKS}),
    "gsm8k, plain layout": solved({"planning": "markedSteps", "calculation": "digits"}),
    "gsm8k, recommended layout": solved({name: curve[0] for name, curve in CURVES.items()}),
    "fraction-subtraction, NIDA layout": Hand(
        {"mastery": Between(0, 1), **RARE}, answered(lambda v: v["mastery"]), {"mastery": SKILLS}
    ),
    "fraction-subtraction, recommended layout": Hand(
        {"generalLevel": Line(0, 4), "skillLevel": Line("generalLevel", 4), **RARE},
        answered(lambda v: sigma(v["skillLevel"])),
        {"skillLevel": SKILLS},
    ),
}
"""By scenario and layout."""

BESIDE = {
    "adele, abilities on many items": replace(
        ABILITIES, latents={**ABILITIES.latents, "ability": Line("generalLevel", "scatter")}
    ),
    "adele, slopes pooled": POOLED,
    "weirdml, nested": Hand(BY_TASK, horizon_nested, {"ease": TASKS}),
}
"""Layouts that no scenario shows by name."""
