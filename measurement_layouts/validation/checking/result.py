"""Result of a check: its tables and findings, and how they are written as text."""

import textwrap
from dataclasses import dataclass

import pandas as pd

from ...common.findings import Finding
from ...common.messages import many
from ...common.showing import Overview, Shown
from .latents import named

PROB = 0.9  # mass of the intervals of agreement
_WIDTH = 100  # characters of a line
_MOST = 24  # most rows of a printed table, and characters of a list of columns
_MARGIN = 4  # characters by which pandas exceeds the width of a line, and the indent
_ADVICE = ("short test", "groups")  # kinds of findings that are no problem
_OF_LATENTS = ["prior_sd", "expected_sd", "unit", "shrinkage", "verdict", "per", "levels"]
_OF_LATENTS += ["items", "trials", "least_trials", "informed_by"]


@dataclass(frozen=True, eq=False, repr=False)
class Check(Shown):
    """What a layout can learn from data, before it is fitted.

    Made by `check`; ``print`` shows all of it.

    Attributes
    ----------
    layout : str
        Name of the layout.
    latents : DataFrame
        One row for every latent and label.

        - ``node``, ``label`` (empty without labels); ``per`` and ``levels``: what has a value of
          its own (subject, item, category or population), and how many there are; ``unit``.
        - ``informed_by``: columns of the items that it is compared with in the formula and that
          vary.
        - ``items``: number of items whose outcome depends on it; ``trials`` and ``least_trials``:
          number of such trials of the median level, and of that with the fewest. With several
          outcomes, trials are attempts, each counted for every such outcome.
        - ``prior_sd``; ``expected_sd``, the expected posterior standard deviation of the median
          subject at draws from the prior, NaN for values that subjects share; ``shrinkage``,
          :math:`1 - sd_{expected}^2 / sd_{prior}^2` as in `profiles`.
        - ``confounded_with``: the element with which its expected posterior correlation exceeds
          0.7 in size, empty where there is none; ``correlation``: the strongest one with any
          element.
        - ``verdict``: "informed" (shrinkage from 0.5), "weakly informed", "prior-dominated"
          (below 0.1), "confounded with" an element, or "shared".
    features : DataFrame
        By column of the meta-features: ``unit``, declared range (``declared_low``,
        ``declared_high``), observed range (``low``, ``high``), numbers of ``distinct`` values and
        of items where it is ``missing`` or ``outside`` its range, and the ``variance_inflation``
        of demands by other demands (NaN where one never varies or is undefined somewhere).
    subjects : DataFrame
        By subject: ``trials``, ``success`` rate, and whether all outcomes are the same
        (``all_alike``). With several outcomes, grades or scores, trials are attempts, and success
        is the mean outcome as a fraction of the highest. ``agreement`` with other subjects'
        outcomes, item by item, its p value ``agreement_p`` (NaN where they are not computed), and
        whether they agree with no other subject's (``disagrees``); see `agreement.agreement`.
    expected : DataFrame
        Expected posterior standard deviations, subjects by profile elements.
    findings : DataFrame
        Problems and advice, in order of importance; columns as in `common.findings.Finding`.

    Examples
    --------
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> from measurement_layouts.validation.checking.check import check
    >>> check(aaio.published_layout(), aaio.simulated_cohort().evaluation)
    <Check of 'animal-ai-olympics': 1 of 4 profile elements informed, 1 problem>
    """

    layout: str
    latents: pd.DataFrame
    features: pd.DataFrame
    subjects: pd.DataFrame
    expected: pd.DataFrame
    findings: pd.DataFrame

    @property
    def problems(self) -> list[str]:
        """Problems to correct before fitting, each with its remedy."""
        return self._texts(self.findings[~self.findings["what"].isin(_ADVICE)])

    @property
    def advice(self) -> list[str]:
        """Recommendations that are no problems."""
        return self._texts(self.findings[self.findings["what"].isin(_ADVICE)])

    def _texts(self, findings: pd.DataFrame) -> list[str]:
        return [str(Finding(*row)) for row in findings.itertuples(index=False, name=None)]

    def __repr__(self) -> str:
        profile = self.latents[self.latents["verdict"] != "shared"]
        informed = int((profile["verdict"] == "informed").sum())
        return (
            f"<Check of {self.layout!r}: {informed} of {many(len(profile), 'profile element')} "
            f"informed, {many(len(self.problems), 'problem')}>"
        )

    def __str__(self) -> str:
        return in_words(self)

    def _overview(self) -> Overview:
        facts = {f"problem {number}": text for number, text in enumerate(self.problems, 1)}
        calls = {"print(check)": "all tables", "ml.fit(layout, evaluation, seed=1)": "profiles"}
        return Overview(facts, calls, {"profile elements": self.latents, "items": self.features})


def in_words(check: Check, width: int | None = None) -> str:
    """Write a check as text: what informs each latent, demands, subjects and findings.

    Parameters
    ----------
    check : Check
        The check.
    width : int, optional
        Characters of a line; columns of tables that do not fit are written below the others
        (default: 100).

    Returns
    -------
    str
        Tables and sentences.
    """
    subjects, width = check.subjects, width or _WIDTH
    latents = check.latents.set_index(named(check.latents))
    same, disagreeing = (int(subjects[name].sum()) for name in ("all_alike", "disagrees"))
    tested = many(int(subjects["agreement_p"].notna().sum()), "subject")
    trials, rates = subjects["trials"], subjects["success"]
    shown = [check.features] if len(check.features) else []

    def filled(text: str) -> str:
        return textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)

    return "\n\n".join(
        [
            filled(f"Layout {check.layout!r} against {many(len(subjects), 'subject')}"),
            f"Latents\n{_table(latents[_OF_LATENTS], width)}",
            *(f"Meta-features\n{_table(table, width)}" for table in shown),
            filled(
                f"Subjects: {trials.min()} to {trials.max()} trials each, success "
                f"{rates.min():.2f} to {rates.max():.2f}; all outcomes the same in "
                f"{many(same, 'subject')}; outcomes that agree with no other subject's, item by "
                f"item: in {disagreeing} of {tested}"
            ),
            "Problems" if check.problems else "No problems found",
            *(filled(f"  {at}. {text}") for at, text in enumerate(check.problems, 1)),
            *map(filled, check.advice),
        ]
    )


def _table(table: pd.DataFrame, width: int) -> str:
    """Write a table without its empty columns, at most `width` characters wide."""
    text = table.loc[:, (table.notna() & (table != "")).any()].to_string(
        float_format="{:.3g}".format,
        max_rows=_MOST,
        formatters={"informed_by": lambda text: textwrap.shorten(text, _MOST, placeholder=" ...")},
        na_rep="",
        line_width=width - _MARGIN,
    )
    return "\n".join(f"  {line.rstrip()}" for line in text.splitlines())
