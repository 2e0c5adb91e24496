"""A rubric of a propensity with levels between any two."""

from measurement_layouts.annotation import Level, Rubric


def ladder(name="haste", negative="takes its time", positive="hurries", *, lowest=-2, highest=2):
    """Write a rubric whose levels differ by what an agent gives up."""
    levels = tuple(
        Level(at, f"It gives up {abs(at)} of 5 at {at}.", f"An example of {at}.")
        for at in range(lowest, highest + 1)
    )
    return Rubric(name, "How far a leaning goes.", "The better one.", negative, positive, levels)
