"""Cases that sample: seconds per subject, ours beside theirs."""

import battery_cases as batteries
from lines import Line, times_faster
from rivals import evenly, nutpie_compiled_once, pm_sample, side_by_side

LOOP = "a loop of `pm.sample`"
COMPILED_ONCE = "the plain model, compiled once by nutpie"


def animal_ai(quick: bool, seed: int) -> list[Line]:
    """Sixty-eight agents, everything compiled."""
    study = batteries.animal_ai(seed)
    everybody = study.evaluation.subjects
    found = side_by_side(study, pm_sample, evenly(everybody, 2 if quick else 10), seed=seed)
    return [
        times_faster(
            f"{len(everybody)} Animal-AI agents, compiled already",
            LOOP,
            ours=found.ours * len(everybody),
            theirs=found.theirs * len(everybody),
            least=25,
            answers=found.answers,
        )
    ]


def object_permanence(quick: bool, seed: int) -> list[Line]:
    """Nine latents and 2,188 items: hardly any repeats, and many do."""
    lines = []
    for repeating, least in ((False, 5), (True, 10)):
        study = batteries.object_permanence(repeating=repeating, seed=seed)
        subjects = study.evaluation.subjects[: 2 if quick else None]
        found = side_by_side(study, nutpie_compiled_once, subjects, subjects, seed=seed)
        distinct = len(study.evaluation.items.drop_duplicates())
        lines.append(
            times_faster(
                f"object permanence, 2,188 items of which {distinct:,} differ, per subject",
                COMPILED_ONCE,
                ours=found.ours,
                theirs=found.theirs,
                least=least,
                answers=found.answers,
            )
        )
    return lines


def real_data(quick: bool, seed: int) -> list[Line]:
    """Forty-four models on GSM8K, and 536 pupils on fraction subtraction."""
    lines = []
    for name, study in (
        ("44 models x 1,319 items of GSM8K", batteries.gsm8k()),
        ("536 pupils x 20 items of fraction subtraction", batteries.fraction_subtraction()),
    ):
        everybody = study.evaluation.subjects
        sampled = evenly(everybody, 1 if quick else 3)
        ours = [*sampled, *evenly(everybody, 8)] if quick else None
        chosen = ours if ours is None else list(dict.fromkeys(ours))
        found = side_by_side(study, pm_sample, sampled, chosen, seed=seed)
        lines.append(
            times_faster(
                name,
                LOOP,
                ours=found.ours * len(everybody),
                theirs=found.theirs * len(everybody),
                least=25,
                answers=found.answers,
            )
        )
    return lines
