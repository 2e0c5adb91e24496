"""The command ``decide``, held against the decisions of the library on the same saved fit."""

import json

import pandas as pd
import pytest

from measurement_layouts import decisions
from measurement_layouts.command import main
from measurement_layouts.inference.fit import load


@pytest.fixture(scope="module")
def fit(fitted):
    return load(fitted / "fit.nc")


@pytest.fixture(scope="module")
def items(data):
    return pd.read_csv(data / "new" / "items.csv", dtype={"item": str}).set_index("item")


@pytest.fixture
def decide(fitted, new, capsys):
    """Type the command with the fit and the new items; its status, and what it prints as JSON."""

    def typed(kind, *options):
        status = main(["decide", kind, str(fitted), *new[:2], *map(str, options), "--json"])
        return status, json.loads(capsys.readouterr().out)

    return typed


@pytest.fixture
def costs(tmp_path):
    path = tmp_path / "costs.csv"
    path.write_text("subject,cost\nAnn,1\nBob,2\nZoë [x],5\n", encoding="utf-8")
    return path


def test_accepted_items_reach_the_success_with_the_confidence(decide, fit, items):
    status, found = decide("accept", "--success", 0.7, "--confidence", 0.8)
    wanted = decisions.accept(fit.forecast(items, prob=0.6), success=0.7)
    got = pd.DataFrame(found["rows"])
    assert status == 0
    assert got["accepted"].tolist() == wanted.table["accepted"].tolist()
    assert 0 < got["accepted"].sum() < len(got)
    cautious = decide("accept", "--success", 0.7)[1]
    assert pd.DataFrame(cautious["rows"])["accepted"].sum() < got["accepted"].sum()
    assert found["sentences"][-1].startswith(f"{got['accepted'].sum()} of 60 items accepted")


def test_each_item_goes_to_the_cheapest(decide, fit, items, costs, tmp_path):
    out = tmp_path / "routes.csv"
    status, found = decide("route", "--costs", costs, "--success", 0.6, "--out", out)
    prices = {"Ann": 1, "Bob": 2, "Zoë [x]": 5}
    wanted = decisions.route(fit.forecast(items, prob=0.9), prices, success=0.6)
    assert [row["subject"] for row in found["rows"]] == wanted.table["subject"].tolist()
    assert pd.read_csv(out)["cost"].sum() == wanted.cost > 0
    assert wanted.unrouted
    assert status == 1  # since somebody is missing
    easy = items[items["distance"] < 1]
    easy.to_csv(tmp_path / "easy.csv")
    assert decide("route", "--costs", costs, "--items", tmp_path / "easy.csv")[0] == 0


def test_costs_may_differ_by_item(decide, items, tmp_path):
    prices = pd.DataFrame(1.0, ["Ann", "Bob", "Zoë [x]"], items.index).rename_axis("subject")
    prices.loc["Zoë [x]", items.index[::2]] = 0.5
    prices.to_csv(tmp_path / "each.csv")
    _, found = decide("route", "--costs", tmp_path / "each.csv", "--success", 0.6)
    rows = pd.DataFrame(found["rows"])
    routed = rows[rows["subject"] != ""]
    assert set(routed["cost"]) == {0.5, 1.0}
    assert set(routed["subject"][routed["cost"] == 0.5]) == {"Zoë [x]"}


def test_a_claim_is_a_card(decide, fit, items):
    status, found = decide("claim", "--success", 0.5, "--subjects", "Ann", "Zoë [x]")
    cards = [decisions.claim(fit, name, items, success=0.5) for name in ("Ann", "Zoë [x]")]
    probable = [row["probability"] for row in found["rows"]]
    assert probable == pytest.approx([card.probability for card in cards], rel=1e-12)
    assert found["sentences"][:2] == list(map(str, cards))
    assert [row["holds"] for row in found["rows"]] == [False, True]
    assert status == 1
    assert decide("claim", "--success", 0.5, "--subjects", "Zoë [x]")[0] == 0


def test_subjects_are_ranked_for_a_job(decide, fit, items):
    status, found = decide("suitability", "--whole", "--confidence", 0.8)
    wanted = decisions.suitability(fit, items, sampled=False, confidence=0.8)
    rows = pd.DataFrame(found["rows"]).set_index("subject")
    assert status == 0
    assert list(rows.index) == list(wanted.ranking.index) == ["Zoë [x]", "Bob", "Ann"]
    assert rows["expected"].tolist() == pytest.approx(
        wanted.ranking["expected"].tolist(), rel=1e-12
    )
    assert set(rows["limited_by"]) == {"distance"}
    assert (rows["gain"] > 0).all()


@pytest.mark.parametrize("kind", ["accept", "route", "claim", "suitability"])
@pytest.mark.parametrize("width", ["80", "120"])
def test_tables_fit_the_terminal(kind, width, fitted, new, costs, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", width)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    options = ["--costs", str(costs)] if kind == "route" else []
    main(["decide", kind, str(fitted), *new[:2], *options])
    table = [line for line in capsys.readouterr().out.splitlines() if line[:1] in "┏┃┡│└"]
    assert table
    assert max(map(len, table)) <= int(width)
    assert not any("…" in line for line in table)


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("accept", ["--confidence", "0.5"], "give more than 0.5"),
        ("claim", ["--subjects", "Eve"], "Eve"),
        ("suitability", ["--confidence", "0.4"], "give at least 0.5"),
        ("suitability", ["--weights", "mass"], "mass"),
        ("accept", ["--items", "missing.csv"], "missing.csv"),
    ],
)
def test_what_cannot_be_decided(kind, options, message, fitted, new, capsys):
    assert main(["decide", kind, str(fitted), *new[:2], *options]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert message in shown.err


def test_costs_of_all_subjects_are_needed(fitted, new, tmp_path, capsys):
    (tmp_path / "costs.csv").write_text("subject,cost\nAnn,1\n", encoding="utf-8")
    options = ["--costs", str(tmp_path / "costs.csv")]
    assert main(["decide", "route", str(fitted), *new[:2], *options]) == 2
    assert "there are none of subject Bob" in capsys.readouterr().err


def test_a_file_is_not_replaced(fitted, new, tmp_path, capsys):
    out = tmp_path / "accepted.csv"
    command = ["decide", "accept", str(fitted), *new[:2], "--out", str(out)]
    assert main(command) == 0
    assert len(pd.read_csv(out)) == 60
    assert main(command) == 2
    assert "exists already" in capsys.readouterr().err
    assert main([*command, "--overwrite"]) == 0
