"""The pieces of the performance benchmark: its batteries, rulers and tables."""

import importlib
import json
import os
from pathlib import Path

import battery_cases as batteries
import engine
import estimation
import gradient_cases
import hand_kernel
import lines
import log_density
import numpy as np
import prediction
import processes
import pytest
import rivals
import running
import slow_cases
import slow_spots
import xarray as xr
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts.linking import product


@pytest.fixture(scope="module")
def animal_ai():
    return batteries.animal_ai()


@pytest.mark.parametrize(
    ("repeating", "differing", "ways"), [(False, 2175, 1015), (True, 1242, 24)]
)
def test_object_permanence_has_the_published_size_and_the_stated_repeats(
    repeating, differing, ways
):
    study = batteries.object_permanence(repeating=repeating)
    items = study.evaluation.items
    assert len(items) == 2188
    assert len(items.drop_duplicates()) == differing
    assert len(items[["goalDistance", "rightLeftPosition"]].drop_duplicates()) == ways
    assert sorted(study.profiles.columns) == sorted(node.name for node in study.layout.latents)
    assert study.evaluation.success_rates().between(0.3, 0.8).all()
    assert {node.name for node in study.layout.meta_features} == set(items.columns)


def test_demands_have_eighteen_labels_and_hardly_a_repeat():
    study = batteries.demands(items=500, subjects=3)
    items = study.evaluation.items
    assert items.shape == (500, 18)
    assert len(items.drop_duplicates()) >= 495
    assert set(np.unique(items)) == set(range(6))
    zeros = (items == 0).mean()
    # the largest of 18 binomial errors at 500 items stays under 4 standard errors of 0.022
    assert np.abs(zeros.to_numpy() - np.linspace(0.2, 0.66, 18)).max() < 0.09
    assert list(study.evaluation.success_rates().argsort()) == [0, 1, 2]


def test_copies_have_the_outcomes_of_ten_subjects(animal_ai):
    evaluation = batteries.copies(animal_ai, 23)
    assert len(set(evaluation.subjects)) == 23
    outcomes = evaluation.successes.to_numpy()
    assert (outcomes[10:20] == outcomes[:10]).all()
    assert (outcomes[20:] == outcomes[:3]).all()
    assert (outcomes[0] == animal_ai.evaluation.successes.to_numpy()[0]).all()


def test_without_data_one_is_told_how_to_give_them(monkeypatch, tmp_path, capsys):
    monkeypatch.delenv(batteries.DATA, raising=False)
    with pytest.raises(FileNotFoundError, match=batteries.DATA):
        batteries.gsm8k()
    assert "real-data" not in engine.chosen(None)
    assert batteries.DATA in capsys.readouterr().err
    monkeypatch.setenv(batteries.DATA, str(tmp_path))
    assert engine.chosen(None) == list(engine.CASES)
    assert engine.chosen(["demands"]) == ["demands"]
    with pytest.raises(FileNotFoundError, match="'gsm8k'"):
        batteries.gsm8k()


@pytest.mark.skipif(not os.environ.get(batteries.DATA), reason="there are no real data")
@pytest.mark.parametrize(
    ("load", "shape"), [(batteries.gsm8k, (44, 1319)), (batteries.fraction_subtraction, (536, 20))]
)
def test_real_data_fit_their_layouts(load, shape):
    study = load()
    assert study.evaluation.successes.shape == shape
    ml.to_pymc(study.layout, study.evaluation, study.evaluation.subjects[0])


def published_density(evaluation, subject, point):
    """The published layout's log-density at an unconstrained point, up to a constant."""
    items, k = evaluation.items, evaluation.successes.loc[subject].to_numpy()
    navigation, visual, noise = np.array([5.3, 1.9, 1.0]) * expit(point[[0, 2, 3]])
    way = items["rewardDistance"] * (0.5 * items["rewardBehind"] + 1)
    navigate = expit(navigation - way + point[1] * items["XPos"])
    p = (1 - noise) * navigate * expit(visual - items["rewardSize"]) + noise * (1 - k.mean())
    prior = np.log(expit(point) * expit(-point))[[0, 2, 3]].sum() - point[1] ** 2 / 2
    return prior + np.log(np.where(k, p, 1 - p)).sum()


def test_the_kernel_by_hand_is_the_layout_with_its_gradient(animal_ai):
    """Values to rounding; slopes to a central difference's, 1e-16 of a value of 60 over a step."""
    subject = animal_ai.evaluation.subjects[30]
    density = hand_kernel.by_hand(animal_ai.evaluation, subject)
    step = 1e-5
    for point in log_density.points(4):
        value, gradient = density(point)
        expected = published_density(animal_ai.evaluation, subject, point)
        assert value == pytest.approx(expected, rel=1e-12)
        for place, along in enumerate(step * np.eye(4)):
            rise = density(point + along)[0] - density(point - along)[0]
            assert gradient[place] == pytest.approx(rise / (2 * step), abs=1e-7)


@pytest.mark.slow
@pytest.mark.alone
def test_ours_the_plain_models_and_the_kernel_by_hand_are_one_log_density(animal_ai):
    who = animal_ai.layout, animal_ai.evaluation, "sim-31"
    hand = hand_kernel.by_hand(animal_ai.evaluation, "sim-31")
    other = hand_kernel.by_hand(animal_ai.evaluation, "sim-32")
    for density in (log_density.ours(*who), log_density.plain(*who)):
        assert gradient_cases.densities_agree(density, hand).figure("").holds
        assert not gradient_cases.densities_agree(density, other).figure("").holds


def test_a_log_density_says_when_it_has_no_answer(animal_ai):
    density = hand_kernel.by_hand(animal_ai.evaluation, "sim-01")
    with pytest.raises(ValueError, match=r"shape \(3,\); it takes shape \(4,\)"):
        density(np.zeros(3))


def test_a_loop_over_twenty_times_the_items_is_timed_longer(animal_ai):
    """By far more than a busy machine's error, since the two take turns."""
    few = animal_ai.evaluation
    names = [f"{name} {number}" for number in range(20) for name in few.items.index]
    long = ml.Evaluation(
        *(few.items.iloc[np.resize(range(69), 1380)].set_axis(names, axis=0),),
        *(
            table.iloc[:1, np.resize(range(69), 1380)].set_axis(names, axis=1)
            for table in (few.successes, few.trials)
        ),
    )
    both = [hand_kernel.by_hand(evaluation, "sim-01") for evaluation in (few, long)]
    times = log_density.microseconds(both, rounds=3, seconds=0.01)
    assert times.shape == (3, 2)
    assert 5 < log_density.ratio(times) < 80


def draws(seed, shift=0.0):
    """Independent draws of two elements, one of them labelled."""
    rng = np.random.default_rng(seed)
    return xr.Dataset(
        {
            "sight": (("chain", "draw"), rng.normal(shift, 2, (2, 1000))),
            "skill": (("chain", "draw", "dimension"), rng.normal(size=(2, 1000, 3))),
        }
    )


@pytest.fixture
def two_latents():
    sight = ml.Capability("sight", low=0, high=1)
    skill = ml.Capability("skill", low=0, high=1, labels=("a", "b", "c"))
    return ml.Layout("two", ml.Success("done", sight * product(skill, over="dimension")))


def test_moments_are_means_with_their_errors(two_latents):
    """Of 2,000 independent draws: 2 / sqrt(2000), which is estimated to about 5 %."""
    found = rivals.moments(two_latents, draws(1))
    assert sorted(found) == ["sight[0]", "skill[0]", "skill[1]", "skill[2]"]
    assert found["sight[0]"][0] == pytest.approx(draws(1)["sight"].mean())
    assert found["sight[0]"][1] == pytest.approx(2 / np.sqrt(2000), rel=0.2)


@pytest.mark.parametrize(("shift", "same"), [(0.0, True), (0.5, False)])
def test_equal_posteriors_agree_and_others_do_not(two_latents, shift, same):
    """A quarter of a standard deviation is 8 standard errors of the difference."""
    ours = {"Ann": rivals.moments(two_latents, draws(1)), "Bob": {}}
    theirs = {"Ann": rivals.moments(two_latents, draws(2, shift))}
    answers = rivals.compared(ours, theirs)
    assert answers.count == 4
    assert answers.figure("case").holds is same
    assert ("NOT" in str(answers)) is not same


def test_the_limit_grows_with_the_comparisons_and_is_four_at_least():
    assert lines.means_agree([1.0] * 3).limit == 4
    assert lines.means_agree([1.0] * 1000).limit == pytest.approx(4.892, abs=1e-3)  # isf(5e-7)


def test_numbers_agree_to_rounding_of_the_largest():
    values = np.array([1e4, 1e-3])
    assert lines.values_agree("values", values + 1e-5, values).figure("").holds
    assert not lines.values_agree("values", values + 1e-3, values).figure("").holds
    assert not lines.values_agree("values", values + np.nan, values).figure("").holds


def test_a_line_holds_when_goal_and_answers_do():
    right = lines.means_agree([1.0])
    fast = {"ours": 2.0, "theirs": 30.0, "least": 10.0}
    assert lines.times_faster("case", "loop", answers=right, **fast).holds
    assert not lines.times_faster("case", "loop", answers=right, **fast | {"least": 16}).holds
    assert not lines.times_faster("case", "loop", answers=lines.means_agree([9.0]), **fast).holds
    assert not lines.times_faster("case", "loop", ratio=9.0, **fast).holds
    assert lines.at_most("case", "memory", 3.0, 3.0, "MiB").holds
    assert not lines.at_most("case", "memory", 3.1, 3.0, "MiB").holds


def test_times_in_words():
    assert [lines.in_words(seconds) for seconds in (62.25, 0.25, 3.6e-6)] == [
        "62.2 s",
        "250 ms",
        "3.6 µs",
    ]


def test_every_case_leads_somewhere():
    for place in engine.CASES.values():
        file, function = place.split(":")
        assert getattr(importlib.import_module(file), function).__doc__


def test_a_case_that_fails_misses_its_goal_and_stops_no_other(monkeypatch, capsys):
    broken = {"one": "nowhere:case", "other": "sampling_cases:nothing"}
    monkeypatch.setattr(engine, "CASES", broken)
    assert engine.main([]) == 1
    shown = capsys.readouterr()
    assert shown.out.count("MISSED") == 2
    assert "No module named 'nowhere'" in shown.err
    assert engine.main(["--json"]) == 1
    shown = json.loads(capsys.readouterr().out)
    assert [figure["obtained"] for figure in shown["figures"]] == [None, None]


@pytest.mark.parametrize(("ours", "status"), [(1.0, 0), (5.0, 1)])
def test_the_benchmark_prints_and_its_status_says_whether_goals_are_held(
    ours, status, monkeypatch, capsys
):
    answers = lines.means_agree([1.25])
    line = lines.times_faster("case", "loop", ours=ours, theirs=20, least=10, answers=answers)
    monkeypatch.setattr(engine, "measure", lambda names, quick, seed: [line])
    assert engine.main(["--case", "demands"]) == status
    head, rule, row = capsys.readouterr().out.splitlines()
    assert head.count("|") == rule.count("|") == row.count("|") == 8
    assert ("MISSED" in row) is (status == 1)
    assert engine.main(["--json", "--quick", "--case", "demands"]) == status
    shown = json.loads(capsys.readouterr().out)
    assert [figure["obtained"] for figure in shown["figures"]] == [20 / ours, ours, 1.25]
    assert [figure["holds"] for figure in shown["figures"]] == [status == 0, True, True]
    assert [figure.get("ours") for figure in shown["figures"]] == [line.ours, None, None]


def test_a_failing_process_is_told_of():
    with pytest.raises(RuntimeError, match=r"nothing failed in its own process:(.|\n)*KeyError"):
        processes.run("nothing")


def test_a_process_returns_what_its_function_does():
    assert processes.run("caches", folder="here")[processes.CACHE] == "here/measurement_layouts"


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="Linux counts so")
def test_the_peak_of_memory_is_seen_and_forgotten():
    before = processes.forget_peak()
    block = np.ones(8 * processes.MIB)  # 64 MiB
    assert processes.peak() - before > 60 * processes.MIB
    del block
    processes.forget_peak()
    assert processes.peak() - before < 30 * processes.MIB


def test_every_seed_is_measured_and_named(monkeypatch, capsys):
    seen = []

    def measure(names, quick, seed):
        seen.append(seed)
        return [lines.at_most("case", "memory", float(seed), 3.0, "MiB")]

    monkeypatch.setattr(engine, "measure", measure)
    assert engine.main(["--json", "--case", "demands", "--seeds", "2", "4"]) == 1
    shown = json.loads(capsys.readouterr().out)["figures"]
    assert [figure["name"] for figure in shown] == [f"case: memory, seed {n}" for n in (2, 4)]
    assert [figure["holds"] for figure in shown] == [True, False]
    assert [figure["ours"] for figure in shown] == ["2 MiB", "4 MiB"]
    assert engine.main(["--case", "demands"]) == 0
    assert seen == [2, 4, batteries.SEED]
    assert "seed" not in capsys.readouterr().out


def test_data_are_read_from_the_folder_that_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv(batteries.DATA, "elsewhere")
    chosen = running.parse(engine.__doc__, ["--data", str(tmp_path)], data=True)
    assert (os.environ[batteries.DATA], chosen.seeds) == (str(tmp_path), [batteries.SEED])
    with pytest.raises(SystemExit):
        running.parse("A benchmark without data.", ["--data", str(tmp_path)])


@pytest.mark.parametrize(
    "make",
    [
        lambda seed: batteries.object_permanence(seed=seed),
        lambda seed: batteries.demands(items=50, subjects=2, seed=seed),
        batteries.animal_ai,
        lambda seed: estimation.windows(3, seed),
    ],
    ids=["object-permanence", "demands", "animal-ai", "windows"],
)
def test_another_seed_gives_another_battery(make):
    one, again, other = (make(seed).evaluation.successes.to_numpy() for seed in (1, 1, 2))
    assert (one == again).all()
    assert not (one == other).all()


@pytest.mark.parametrize(
    "name",
    ["adele", "engine", "estimation", "logs", "outcomes", "recovery", "slow_spots", "unseen"],
)
def test_every_benchmark_takes_seeds(name, capsys):
    with pytest.raises(SystemExit):
        importlib.import_module(name).main(["--help"])
    shown = capsys.readouterr().out
    assert "--seeds" in shown
    assert ("--data" in shown) == (name in ("adele", "engine"))


@pytest.mark.slow
def test_the_benchmark_of_prediction_reports_every_seed(capsys):
    assert prediction.main(["--quick", "--json", "--seeds", "1", "2"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert len(said["figures"]) == 2


def test_a_fit_of_many_repeats_the_draws_of_few(monkeypatch):
    monkeypatch.setattr(slow_cases, "SAMPLED", 2)
    fit = slow_cases.many(5, seed=1)
    draws = fit.posterior["noiseLevel"].to_numpy()
    assert len(set(fit.subjects)) == len(draws) == 5
    assert (draws[0] == draws[2]).all()
    assert not (draws[0] == draws[1]).any()


@pytest.mark.parametrize("case", slow_spots.CASES)
def test_every_slow_spot_is_told_of(case):
    assert slow_spots.CASES[case].__doc__


@pytest.mark.slow
def test_the_benchmark_of_slow_spots_reports_as_the_others(capsys):
    assert slow_spots.main(["--quick", "--json", "--case", "compare", "--seeds", "3"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [figure["holds"] for figure in said["figures"]] == [True, True]
    assert said["figures"][0]["name"] == "compare_profiles of 6 subjects: seconds"
