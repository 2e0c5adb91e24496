"""The command ``sbc``: files, verdicts, exit statuses, and what it refuses."""

import pandas as pd
import pytest

from measurement_layouts import scenarios
from measurement_layouts.command import main

FEW = ["--simulations", "20", "--draws", "300", "--tune", "200"]


@pytest.fixture
def own(data):
    layout = f"{data / 'layout.py'}:plain"
    return ["sbc", layout, "--items", str(data / "items.csv"), "--method", "grid", *FEW]


def test_one_s_own_layout(own, tmp_path, capsys):
    out = tmp_path / "calibration"
    assert main([*own, "--out", str(out)]) == 0
    assert capsys.readouterr().out.startswith("plain: calibrated\n")
    table = pd.read_csv(out / "table.csv", index_col=["layout", "quantity"])
    assert list(table.index) == [("plain", "reach"), ("plain", "log-likelihood")]
    ranks = pd.read_csv(out / "ranks.csv")
    assert len(ranks) == 40
    assert set(ranks["status"]) <= {"ok", "not converged"}
    assert (out / "ranks.png").read_bytes().startswith(b"\x89PNG")
    report = (out / "report.md").read_text(encoding="utf-8")
    assert "\n| plain | 20 |" in report
    assert "| yes |" in report
    assert main([*own, "--out", str(out)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert main([*own, "--out", str(out), "--overwrite"]) == 0


def test_a_layout_that_is_not_calibrated(own, tmp_path, monkeypatch, capsys):
    """Twin that must fail: outcomes are drawn of other profiles than those that are ranked."""
    from measurement_layouts.validation.calibration import run

    real = run.simulate
    monkeypatch.setattr(
        run,
        "simulate",
        lambda layout, items, profiles, **more: real(
            layout, items, profiles[::-1].set_axis(profiles.index), **more
        ),
    )
    assert main([*own, "--out", str(tmp_path)]) == 1
    assert "not calibrated (reach, log-likelihood)" in capsys.readouterr().out
    assert "| **no** |" in (tmp_path / "report.md").read_text(encoding="utf-8")


def test_chains_that_are_too_short_to_converge(own, tmp_path, capsys):
    """Uniform ranks of 120 draws each, where a fit wants 200: neither yes nor no, and status 1."""
    assert main([*own, "--draws", "60", "--out", str(tmp_path)]) == 1
    said = "plain: inconclusive (of 20 simulations 20 did not converge)\n"
    assert capsys.readouterr().out.startswith(said)
    assert "| **inconclusive** |" in (tmp_path / "report.md").read_text(encoding="utf-8")
    table = pd.read_csv(tmp_path / "table.csv")
    assert table["inside"].all()


def test_a_scenario_s_layouts_with_parts_of_its_battery(tmp_path, capsys):
    assert main(["sbc", "propensities", *FEW, "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[:2] == [
        "propensities, published layout: calibrated",
        "propensities, recommended layout: calibrated",
    ]


@pytest.mark.parametrize("name", scenarios.NAMES)
def test_every_layout_of_every_scenario_has_a_case(name):
    scenario = scenarios.get(name)
    cases = scenario.calibration()
    assert set(scenario.layouts) <= set(cases)
    for case in cases.values():
        assert 10 <= len(case.items) <= 200
        assert 0 < case.share <= 1
        assert not {feature.columns[0] for feature in case.layout.meta_features} - set(case.items)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "nothing was named; give scenarios, LAYOUT.py:name or --all"),
        (["adelle"], "adelle is neither a scenario (animal-ai-olympics"),
        (["layout.py:plain"], "layout.py:plain needs items to be simulated on"),
    ],
)
def test_what_it_refuses(arguments, words, tmp_path, capsys):
    assert main(["sbc", *arguments, "--out", str(tmp_path / "new")]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
