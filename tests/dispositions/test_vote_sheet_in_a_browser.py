"""The sheet filled in by mouse, keyboard and screen reader's names, without a network."""

import json
from contextlib import contextmanager

import pytest
from helpers.mock_situations import SCENARIOS
from helpers.system_chromium import chromium

from measurement_layouts.dispositions import (
    SituationalJudgments,
    attention_checks,
    collected_votes,
    vote_sheet,
)

pytestmark = pytest.mark.slow

ABOUT = {"age group": ["18-34", "35 or older"]}


@pytest.fixture(scope="module")
def browser():
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def sheet_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("sheets") / "sheet.html"
    return vote_sheet(SCENARIOS, path, seed=3, about=ABOUT)


@pytest.fixture
def visit(browser, sheet_file):
    """Open the page offline, and watch for errors and requests."""

    @contextmanager
    def opened(file=sheet_file, **options):
        context = browser.new_context(
            **{"viewport": {"width": 390, "height": 844}, "offline": True} | options
        )
        page, asked, said = context.new_page(), [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(file.as_uri())
        yield page
        assert said == []
        assert [url for url in asked if not url.startswith(("file:", "blob:"))] == []
        context.close()

    return opened


def start(page, rater):
    page.get_by_label("Your name, or the code").fill(rater)
    page.get_by_role("button", name="Start").click()


def scenario(page):
    return page.locator(".step:visible").get_attribute("data-scenario")


def fill(page, rater, answers):
    """Answer every question: by `answers`, and otherwise for the first action."""
    start(page, rater)
    said = {}
    while (name := scenario(page)) is not None:
        page.get_by_role("radio", name=answers.get(name, "A is better")).check()
        said[name] = page.locator(".step:visible").get_attribute("data-first")
        page.get_by_role("button", name="Next").click()
    return said


def save(page, folder):
    with page.expect_download() as found:
        page.get_by_role("button", name="Save the file").click()
    path = folder / found.value.suggested_filename
    found.value.save_as(path)
    return path


def right_answers(page):
    """What the checks want, read from the page as a person does."""
    green = page.locator("[data-scenario='check-colour'] dl div", has_text="green")
    letter = green.locator("dt").text_content()
    return {"check-colour": f"{letter} is better", "check-middle": "About the same"}


@pytest.mark.trust("promises", "a vote sheet filled in offline is read, a failed check is caught")
def test_filled_in_offline_and_read_back(visit, tmp_path):
    with visit() as page:
        first = fill(page, "Ann", right_answers(page) | {"sleep-02": "About the same"})
        save(page, tmp_path)
    with visit() as page:  # says A to everything
        fill(page, "Bob", {})
        save(page, tmp_path)
    found = collected_votes(tmp_path)
    assert found.excluded == ("Bob",)
    assert set(found.failed["rater"]) == {"Bob"}
    assert "check-middle" in found.failed["check"].tolist()
    votes = found.votes.set_index("scenario")["vote"]
    assert votes.to_dict() == {name: first[name] for name in SCENARIOS.index} | {
        "sleep-02": "neutral"
    }
    judgments = SituationalJudgments.from_long(
        SCENARIOS.rename_axis("scenario"), found.votes, raters=found.raters
    )
    assert len(judgments.votes) == 4


def test_the_keyboard_is_enough(visit, tmp_path):
    with visit() as page:
        page.get_by_label("Age group").select_option("35 or older")
        page.locator("#rater").focus()
        page.keyboard.type("Ann <b>")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.tagName") == "LEGEND"
        page.keyboard.press("Enter")  # nothing is chosen yet
        alert = page.locator(".step:visible").get_by_role("alert")
        assert alert.text_content() == "Please choose one of the answers."
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        for _ in range(5):
            assert page.evaluate("document.activeElement.tagName") == "LEGEND"
            page.keyboard.press("4")
            page.keyboard.press("Enter")
        assert page.locator("h1:visible").text_content() == "Save your answers"
        page.keyboard.press("Tab")
        with page.expect_download() as download:
            page.keyboard.press("Enter")
        assert download.value.suggested_filename == "votes-Ann-b-3.jsonl"
        lines = [json.loads(one) for one in download.value.path().read_text().splitlines()]
    assert [one["place"] for one in lines] == [1, 2, 3, 4, 5, 6]
    assert [one["vote"] for one in lines[1:]] == ["n/a"] * 5
    assert lines[0]["rater"] == "Ann <b>"
    assert lines[0]["about"] == {"age group": "35 or older"}
    assert lines[0]["seed"] == 3


def test_without_a_name_nobody_starts(visit):
    with visit() as page:
        page.get_by_role("button", name="Start").click()
        assert page.get_by_role("alert").first.text_content().startswith("Please give your name")
        assert page.evaluate("document.activeElement.id") == "rater"


def test_an_answer_can_be_changed(visit, tmp_path):
    with visit() as page:
        fill(page, "Ann", {})
        for _ in range(6):
            page.get_by_role("button", name="Back").click()
        name = scenario(page)
        assert page.get_by_role("radio", name="A is better").is_checked()
        page.get_by_role("radio", name="About the same").check()
        for _ in range(6):
            page.get_by_role("button", name="Next").click()
        lines = save(page, tmp_path).read_text().splitlines()
    assert {one["scenario"]: one["vote"] for one in map(json.loads, lines)}[name] == "neutral"


def test_a_screen_reader_hears_message_and_actions(visit):
    with visit() as page:
        start(page, "Ann")
        group = page.locator("fieldset:visible")
        message = SCENARIOS.loc[scenario(page), "user_message"]
        assert page.get_by_role("group", name=message).count() == 1
        described = page.locator(f"#{group.get_attribute('aria-describedby')}")
        assert SCENARIOS.loc[scenario(page), "agree_action"] in described.text_content()
        assert page.get_by_role("radiogroup", name="Which action is preferable?").count() == 1
        assert page.get_by_role("radio").count() == 4
        assert page.get_by_role("progressbar", name="1 of 6").count() == 1


def test_grades_are_stances_for_the_agreeing_action(visit, tmp_path):
    path = vote_sheet(SCENARIOS, tmp_path / "graded.html", seed=4, graded=True)
    with visit(path) as page:
        names = [*SCENARIOS.index, *attention_checks().index]
        first = fill(page, "Ann", dict.fromkeys(names, "A is a little better"))
        lines = save(page, tmp_path).read_text().splitlines()
    for one in map(json.loads, lines):
        if one["scenario"] in SCENARIOS.index:
            assert one["vote"] == first[one["scenario"]]
            assert one["stance"] == (1 if one["vote"] == "agree" else -1)


@pytest.mark.parametrize("width", [390, 1200])
def test_nothing_is_wider_than_the_window(visit, width):
    with visit(viewport={"width": width, "height": 844}) as page:
        for _ in range(2):
            assert page.evaluate("document.documentElement.scrollWidth") == width
            start(page, "Ann") if scenario(page) is None else None


def test_light_and_dark_are_the_reader_s_choice(visit):
    ground = "getComputedStyle(document.body).backgroundColor"
    with visit(color_scheme="dark") as page:
        assert page.evaluate(ground) == "rgb(20, 23, 26)"
    with visit(color_scheme="light") as page:
        assert page.evaluate(ground) == "rgb(255, 255, 255)"


def test_without_scripts_a_person_is_told(visit):
    with visit(java_script_enabled=False) as page:
        assert page.get_by_text("needs JavaScript").is_visible()


def test_what_a_page_asks_for_would_be_noticed(visit, sheet_file, tmp_path):
    """Twin that must fail: a picture from elsewhere is refused by the page, and heard of."""
    worse = tmp_path / "worse.html"
    picture = '<img src="https://example.org/x.png" alt="">'
    text = sheet_file.read_text(encoding="utf-8")
    worse.write_text(text.replace("</main>", f"{picture}</main>"), encoding="utf-8")
    with pytest.raises(AssertionError), visit(worse):
        pass
