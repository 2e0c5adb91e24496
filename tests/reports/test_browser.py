"""The HTML page in a browser: what a reader clicks, types and prints."""

from contextlib import contextmanager

import pytest
from helpers.awkward_names import FAILED, NAMES
from helpers.system_chromium import chromium

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser():
    with chromium() as opened:
        yield opened


@pytest.fixture
def visit(browser, page_file):
    """Open the page, and watch for errors and requests."""

    @contextmanager
    def opened(file=page_file, place="", **options):
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}} | options)
        page, asked, said = context.new_page(), [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(f"{file.as_uri()}{place}")
        yield page
        assert said == []
        assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
        assert len([url for url in asked if url.startswith("file:")]) == 1
        context.close()

    return opened


def names_shown(page):
    """First cells of the rows of profiles that are shown, without signs."""
    return page.locator("#profiles tbody tr:not([hidden]) th").all_text_contents()


def opened(page):
    """Headings of the subjects whose sections are open."""
    return page.locator("#subjects > details[open] > summary h3").all_text_contents()


def test_no_name_runs_as_a_script(visit):
    with visit() as page:
        assert page.title() == "Cognitive profiles under difficult"
        assert page.locator("main img").count() == 0
        assert names_shown(page) == [*NAMES, FAILED]


def test_a_column_sorts_by_numbers_and_the_failed_stay_last(visit):
    with visit() as page:
        header = page.locator("#profiles thead th", has_text="skill")
        header.get_by_role("button").click()
        assert header.get_attribute("aria-sort") == "descending"
        assert names_shown(page) == [*reversed(NAMES), FAILED]
        header.get_by_role("button").click()
        assert header.get_attribute("aria-sort") == "ascending"
        assert names_shown(page) == [*NAMES, FAILED]


def test_the_keyboard_is_enough(visit):
    with visit() as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
        page.locator("#profiles thead [role='button']").nth(2).focus()
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent").startswith("skill")
        style = "getComputedStyle(document.activeElement)"
        assert page.evaluate(f"{style}.outlineStyle") == "solid"
        assert page.evaluate(f"{style}.outlineWidth") == "3px"
        page.keyboard.press("Space")
        assert names_shown(page)[0] == NAMES[-1]


def test_rows_are_filtered_by_any_of_their_text(visit):
    with visit() as page:
        box = page.locator("#profiles input")
        box.fill("aNN")
        assert names_shown(page) == ["Ann"]
        assert page.locator("#profiles output").text_content() == "1 of 5 shown"
        box.fill("failed")
        assert names_shown(page) == [FAILED]


def test_a_link_opens_a_subject_and_a_button_all(visit):
    with visit() as page:
        assert opened(page) == ["Ann"]
        page.locator("#profiles tbody").get_by_text("=SUM(A1)").click()
        assert opened(page) == ["Ann", "=SUM(A1)"]
        page.get_by_role("button", name="Open all").click()
        assert len(opened(page)) == 5


def test_an_address_with_a_subject_opens_there(visit):
    with visit(place="#subject-3") as page:
        box = page.locator("#subject-3 h3").first.bounding_box()
        assert len(opened(page)) == 2
        assert 50 < box["y"] < 900  # below the bar at the top


def test_light_and_dark_are_the_reader_s_choice(visit):
    ground = "getComputedStyle(document.body).backgroundColor"
    with visit(color_scheme="dark") as page:
        assert page.evaluate(ground) == "rgb(20, 23, 26)"
        button = page.locator("#theme")
        assert button.text_content() == "Light theme"
        button.click()
        assert page.evaluate(ground) == "rgb(255, 255, 255)"
        assert button.text_content() == "Dark theme"


def test_without_scripts_everything_is_there(visit):
    with visit(java_script_enabled=False) as page:
        assert page.locator("#subjects > details").count() == 5
        assert page.locator("#theme").is_hidden()


def test_paper_has_all_subjects_in_light(visit):
    with visit(color_scheme="dark") as page:
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert len(opened(page)) == 5
        assert page.locator("header.top").is_hidden()
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == "rgb(255, 255, 255)"
        assert page.pdf(format="A4").count(b"/Type /Page\n") >= 6


@pytest.mark.parametrize("width", [390, 1200])
def test_nothing_is_wider_than_the_window(visit, width):
    with visit(viewport={"width": width, "height": 844}) as page:
        page.get_by_role("button", name="Open all").click()
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_what_a_page_asks_for_would_be_noticed(visit, page_file, tmp_path):
    """Twin that must fail: a picture from elsewhere is refused by the page, and heard of."""
    worse = tmp_path / "worse.html"
    picture = '<img src="https://example.org/x.png" alt="">'
    text = page_file.read_text(encoding="utf-8")
    worse.write_text(text.replace("</main>", f"{picture}</main>"), encoding="utf-8")
    with pytest.raises(AssertionError), visit(worse):
        pass
