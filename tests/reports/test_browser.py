"""The HTML page in a browser: what a reader clicks, types and prints."""

from contextlib import contextmanager

import pytest
from helpers.awkward_names import FAILED, NAMES
from helpers.many_subjects import many
from helpers.system_chromium import chromium

from measurement_layouts.reports.report import report

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
    cells = page.locator("#profile-table tbody tr:not([hidden]) th a")
    return cells.all_text_contents()


def subjects_shown(page):
    return page.locator("article.subject:visible").count()


def test_no_name_runs_as_a_script(visit):
    with visit() as page:
        assert page.title() == "Cognitive profiles under difficult"
        assert page.locator("main img").count() == 0
        assert names_shown(page) == [*NAMES, FAILED]


def test_a_column_sorts_by_numbers_and_the_failed_stay_last(visit):
    with visit() as page:
        header = page.locator("#profile-table thead th", has_text="skill")
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
        page.locator("#profile-table thead [role='button']").nth(2).focus()
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent").startswith("skill")
        style = "getComputedStyle(document.activeElement)"
        assert page.evaluate(f"{style}.outlineStyle") == "solid"
        assert page.evaluate(f"{style}.outlineWidth") == "3px"
        page.keyboard.press("Space")
        assert names_shown(page)[0] == NAMES[-1]


def test_rows_are_filtered_by_name_and_status(visit):
    with visit() as page:
        page.get_by_label("Subject", exact=True).first.fill("aNN")
        assert names_shown(page) == ["Ann"]
        assert page.locator("#shown").text_content() == "1 of 5 shown"
        page.locator("#filter").fill("")
        page.get_by_label("Status").select_option("failed")
        assert names_shown(page) == [FAILED]


def test_a_link_leads_to_one_subject_and_back(visit):
    with visit() as page:
        assert subjects_shown(page) == 1
        page.locator("#profile-table").get_by_text("=SUM(A1)").click()
        assert page.locator("article.subject:visible h3").text_content().startswith("=SUM(A1)")
        assert page.evaluate("document.activeElement.id") == "subject-4-title"
        page.get_by_role("button", name="Next").click()
        assert FAILED in page.locator("article.subject:visible h3").text_content()
        page.locator("#choose").select_option("subject-1")
        assert page.locator("#subject-1").is_visible()
        page.go_back()
        page.get_by_role("button", name="Show all").click()
        assert subjects_shown(page) == 5


def test_an_address_with_a_subject_opens_there(visit):
    with visit(place="#subject-3") as page:
        assert page.locator("#subject-3").is_visible()
        assert subjects_shown(page) == 1
        box = page.locator("#subject-3-title").bounding_box()
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
        assert subjects_shown(page) == 5
        assert page.locator("#theme").is_hidden()


def test_paper_has_all_subjects_in_light(visit):
    with visit(color_scheme="dark") as page:
        page.emulate_media(media="print")
        assert subjects_shown(page) == 5
        assert page.locator("header.top").is_hidden()
        assert (
            page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        )
        printed = page.pdf(format="A4")
        assert printed[:5] == b"%PDF-"
        assert printed.count(b"/Type /Page\n") >= 6


@pytest.mark.parametrize("width", [390, 1200])
def test_nothing_is_wider_than_the_window(visit, width):
    with visit(viewport={"width": width, "height": 844}) as page:
        page.get_by_role("button", name="Show all").click()
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_the_table_downloads(visit):
    with visit() as page:
        with page.expect_download() as found:
            page.get_by_role("link", name="Download CSV").click()
        assert found.value.suggested_filename == "profiles.csv"


def test_what_a_page_asks_for_would_be_noticed(visit, page_file, tmp_path):
    """Twin that must fail: a picture from elsewhere is refused by the page, and heard of."""
    worse = tmp_path / "worse.html"
    picture = '<img src="https://example.org/x.png" alt="">'
    text = page_file.read_text(encoding="utf-8")
    worse.write_text(text.replace("</main>", f"{picture}</main>"), encoding="utf-8")
    with pytest.raises(AssertionError), visit(worse):
        pass


def test_sixty_eight_subjects_fit_on_twenty_pages(visit, layout, evaluation, tmp_path):
    path = report(many(layout, evaluation, 68), tmp_path / "many.html")
    with visit(path) as page:
        page.emulate_media(media="print")
        assert page.locator("article.subject:visible").count() == 68
        assert page.pdf(format="A4").count(b"/Type /Page\n") <= 20


def test_the_diagram_fits_and_is_shown_in_its_own_size(visit):
    with visit(viewport={"width": 390, "height": 844}) as page:
        drawn = page.locator("#diagram > svg")
        fits = drawn.bounding_box()["width"]
        assert fits < 390
        page.get_by_role("button", name="Actual size").click()
        assert drawn.bounding_box()["width"] > fits


def test_a_subject_weighs_little(layout, evaluation, tmp_path):
    """At most 15 kB each, so that 500 of them weigh less than 8 MB."""
    fit = many(layout, evaluation, 120)
    path = report(fit, tmp_path / "many.html")
    alone = report(many(layout, evaluation, 1), tmp_path / "one.html")
    assert (path.stat().st_size - alone.stat().st_size) / 119 < 15e3
