"""The benchmark of suspicion: what its cohorts are, and that its goals can be missed."""

import elsewhere_suspicion as benchmark
import numpy as np
import pandas as pd
import pytest


def test_a_fifth_of_the_hard_items_is_known_by_heart():
    items, outcomes = benchmark.cohorts(400, 2.0, seed=1)
    honest, learnt, hidden = (outcomes[name] for name in ("honest", "memorised", "sandbagged"))
    assert items["difficulty"].std() == pytest.approx(2, abs=0.4)
    assert honest.shape == (400, benchmark.ITEMS)
    assert (learnt >= honest).all()
    assert (hidden <= honest).all()
    hard = items["difficulty"] > 3.2  # for all subjects, nearly
    assert learnt[:, hard].mean() - honest[:, hard].mean() == pytest.approx(0.2, abs=0.03)
    easy = items["difficulty"] < -3.2
    assert honest[:, easy].mean() - hidden[:, easy].mean() == pytest.approx(0.2, abs=0.03)


@pytest.mark.parametrize(
    ("verdict", "missed"), [("memorised", "false alarms"), ("", "memorised (20% of the hard")]
)
def test_whoever_accuses_everybody_or_nobody_misses_a_goal(monkeypatch, verdict, missed):
    def judged(items, outcomes, draws, seed):
        return pd.DataFrame({"verdict": np.full(len(outcomes), verdict)})

    monkeypatch.setattr(benchmark, "judged", judged)
    lines = list(benchmark.rows(True, 1))
    (wrong,) = (line for line in lines if not line.holds)
    assert wrong.figure.name.split(": ")[1].startswith(missed)


@pytest.mark.slow
def test_a_short_run_finds_most():
    lines = {line.against: line.figure.obtained for line in benchmark.rows(True, 3)}
    assert lines["false alarms"] < 0.3
    assert lines["memorised (20% of the hard items)"] > 0.6
