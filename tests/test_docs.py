"""The site's pages: their code runs, every public name is there, every plot has a picture."""

import builtins
import dis
import doctest
import json
import re
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

import measurement_layouts as ml
from measurement_layouts import linking, scenarios

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGES = [
    path for folder in (".", "how-to", "studies") for path in sorted(DOCS.glob(f"{folder}/*.md"))
]
SLOW = {
    "capabilities-over-time",
    "check-calibration",
    "choose-a-linking-function",
    "compare-models",
    "decide-with-a-profile",
    "design-a-battery",
    "extend-the-pymc-model",
    "graders-who-err",
    "grades-and-scores",
    "handle-guessing",
    "items-unlike-those-run",
    "many-subjects",
    "my-test-has-twelve-items",
    "read-a-profile",
    "tutorial",
    "what-to-ask-next",
    "which-layout",
    "write-a-report",
}
"""They fit something."""
MADE_ELSEWHERE = {"Expr", "LinkingFunction"}
"""Classes whose example is on the card of the function that makes them."""
NUMBER = re.compile(r"(?<![\w.-])-?\d+\.\d+(?![\w.])")


@pytest.fixture
def building(monkeypatch):
    """Where the modules are that build the site."""
    monkeypatch.syspath_prepend(str(DOCS / "building"))


def _alike(want, got):
    """Whether the numbers of two lines are the same, but for Monte Carlo error."""
    wanted, found = ([float(number) for number in NUMBER.findall(line)] for line in (want, got))
    slack = 0.11 + 0.1 * (max(wanted, default=0.0) - min(wanted, default=0.0))
    return len(wanted) == len(found) and all(
        abs(one - other) <= slack + 0.02 * abs(one)
        for one, other in zip(wanted, found, strict=True)
    )


class Checker(doctest.OutputChecker):
    """Numbers with decimals may differ a little: other processors round, and so draw, otherwise.

    Ends of intervals have Monte Carlo errors of a few hundredths of the interval's width, and two
    runs differ by up to some three of these: a tenth of the spread of the numbers in a line.
    """

    def check_output(self, want, got, optionflags):
        wanted, found = want.splitlines(), got.splitlines()
        if len(wanted) == len(found) and all(map(_alike, wanted, found)):
            want, got = NUMBER.sub("#", want), NUMBER.sub("#", got)
        return super().check_output(want, got, optionflags)


def run(text, name):
    """Run a page's examples in one namespace; return how many there are and what failed."""
    blocks = re.findall(r"```pycon\n(.*?)```", text, re.DOTALL)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, name, name, 0)
    said = []
    runner = doctest.DocTestRunner(Checker(), verbose=False, optionflags=flags)
    result = runner.run(examples, out=said.append)
    return result.attempted, "".join(said)


def page(path):
    marks = [pytest.mark.slow] if path.stem in SLOW else []
    return pytest.param(path, id=path.stem, marks=marks)


@pytest.mark.parametrize("path", [page(path) for path in PAGES])
def test_the_code_of_a_page_runs(path):
    mpl.use("Agg")
    text = path.read_text()
    examples, failed = run(text, path.stem)
    plt.close("all")
    assert failed == ""
    assert examples == len(re.findall(r"^>>> ", text, re.MULTILINE))


@pytest.mark.parametrize("wrong", ["1 + 1\n3", "print(0.5)\n0.7", "print('a 0.5')\nb 0.5", "1 / 0"])
def test_a_page_that_is_wrong_is_noticed(wrong):
    _, failed = run(f"```pycon\n>>> {wrong}\n```", "wrong")
    assert failed != ""


def without_card(index, pages):
    """Pages without a card, cards without a page, and pages with several cards."""
    cards = re.findall(r"\]\(([\w-]+)\)", index)
    return sorted({*pages} ^ {*cards}), sorted({one for one in cards if cards.count(one) > 1})


def test_every_how_to_has_one_card():
    index = (DOCS / "how-to" / "index.md").read_text()
    pages = {path.stem for path in DOCS.glob("how-to/*.md")} - {"index"}
    assert without_card(index, pages) == ([], [])
    assert without_card("[a](a) [a](a) [c](c)", {"a", "b"}) == (["b", "c"], ["a"])


def test_every_public_name_is_in_the_reference_once(building):
    import references

    listed = references.listed()
    assert sorted(set(listed)) == sorted(listed)
    assert set(references.public()) == {*listed} - {"measurement_layouts.layouts.latents.Latent"}


def test_every_public_name_is_in_the_reference_as_text(building):
    import export
    import references

    text = export.text()
    for name in references.public():
        assert name.replace("measurement_layouts", "ml", 1) in text
    assert "### Fit.profiles(fit" in text


def test_every_public_callable_has_a_card(building):
    import references

    found = {name: references.gaps(value) for name, value in references.public().items()}
    lacking = {name: gaps for name, gaps in found.items() if gaps}
    assert {name.rsplit(".", 1)[1] for name in lacking} <= MADE_ELSEWHERE
    assert all(gaps == ["Examples"] for gaps in lacking.values())


def test_every_plot_has_one_example(building):
    import examples

    assert sorted(examples.plots()) == sorted(ml.plots.__all__)


def test_every_example_calls_its_plot(building):
    import examples

    for theme in map(examples.read, examples.THEMES):
        for plot, code in theme.cells.items():
            assert f"axes = ml.plots.{plot}(" in code


def free_and_idle(code):
    """Names that a script reads without having them, and those that it makes without reading."""
    waiting, found = [compile(code, "example.py", "exec")], {}
    while waiting:
        block = waiting.pop()
        waiting += [constant for constant in block.co_consts if hasattr(constant, "co_code")]
        for step in dis.get_instructions(block):
            found.setdefault(step.opname, set()).add(step.argval)
    read, made = found["LOAD_NAME"] | found.get("LOAD_GLOBAL", set()), found["STORE_NAME"]
    return read - made - set(dir(builtins)), made - read


def test_the_code_of_an_example_is_whole_and_no_longer_than_it_needs(building):
    import examples

    for theme in map(examples.read, examples.THEMES):
        for plot in theme.cells:
            free, idle = free_and_idle(theme.code(plot))
            assert free == set(), plot
            assert idle == {"axes"}, plot
    theme = examples.Theme("", "", "import a, b\n\nc = a.x\nd = b.y\n", {"e": "axes = d"}, {})
    assert theme.code("e") == "import b\n\nd = b.y\n\naxes = d"
    assert free_and_idle("import a\naxes = b") == ({"b"}, {"a", "axes"})


def test_every_linking_function_is_drawn(building):
    import examples

    functions = {
        name
        for name in linking.__all__
        if isinstance(getattr(linking, name), linking.LinkingFunction)
    }
    assert set(examples.read("linking").cells) == functions


def test_every_layout_of_every_scenario_is_drawn(building):
    import pages

    drawn = [(scenario.name, layout) for _, scenario, layout, _ in pages.layouts()]
    expected = [
        (name, layout) for name in scenarios.NAMES for layout in scenarios.get(name).every_layout()
    ]
    assert drawn == expected
    assert len({key for key, *_ in pages.layouts()}) == len(expected)


def test_every_formula_is_among_the_methods(building):
    import formulas

    sources = formulas.PACKAGE.rglob("*.py")
    written = sum(path.read_text().count(".. math::") for path in sources)
    collected = [card for card in formulas.cards() if card.has_formula]
    assert sum(card.text.count(".. math::") for card in collected) == written
    assert [card.file for card in collected if formulas.chapter_of(card) == "Other"] == []


def test_links_that_lead_nowhere_are_named(building, tmp_path):
    import links

    (tmp_path / "a.html").write_text(
        '<p id="here"><a href="b.html#there">b</a><a href="#here">a</a>'
        '<a href="c.html">c</a><a href="b.html#gone">d</a><a href="https://nowhere">e</a>'
        '<img src="no.png"><a href="https://example.org/x">f</a>'
    )
    (tmp_path / "b.html").write_text('<p id="there">')
    wrong, elsewhere = links.check(tmp_path)
    assert [line.removeprefix("a.html: ") for line in wrong] == [
        "no text states what one sees on no.png",
        "no file c.html",
        "no place b.html#gone",
        "https://nowhere has no right form",
        "no file no.png",
    ]
    assert elsewhere == ["https://example.org/x", "https://nowhere"]


def test_the_page_of_the_command_has_every_command(building):
    import pages

    from measurement_layouts.command import application

    text = pages.command_page()
    commands = set(application().resolved_commands()) - {"--help", "-h", "--version"}
    assert commands == set(re.findall(r"^## measurement-layouts (.+)$", text, re.MULTILINE))
    assert "measurement-layouts fit --outcomes STR... --out PATH" in text


def test_the_page_of_levels_has_a_row_for_each_pair_of_neighbours(building):
    import pages

    text = pages.levels_page()
    rows = re.findall(r"^\| (\d), (\d) \| (.+) \|$", text, re.MULTILINE)
    assert len(re.findall(r"^## ", text, re.MULTILINE)) == len(ml.annotation.DEMAND_RUBRICS)
    assert [row[:2] for row in rows] == [(str(at), str(at + 1)) for at in range(5)] * 18
    assert len({row[2] for row in rows}) > 80


PICTURES = (
    re.compile(r"!\[([^\]]*)\]\(([^)\s]+)[^)]*\)"),
    re.compile(r"<img\b[^>]*>"),
    re.compile(r"(?:```|:::)\{(?:image|figure)\} (\S+)\n((?::[\w-]+:.*\n)*)"),
    re.compile(r"^:::+\{grid-item-card\}.*\n((?::[\w-]+:.*\n)*)", re.MULTILINE),
    re.compile(r"\.\. (?:image|figure):: (\S+)\n((?: +:\w+:.*\n)*)"),
)


def texts_of_pictures(text):
    """What is stated of each picture on a page; empty where nothing is."""
    written, tags, boxes, cards, directives = (pattern.findall(text) for pattern in PICTURES)
    cards = [options for options in cards if ":img-top:" in options]
    options = [*(options for _, options in [*boxes, *directives]), *cards]
    found = [re.search(r":(?:img-)?alt: (.+)", option) for option in options]
    found += [re.search(r'\balt="([^"]*)"', tag) for tag in tags]
    return [*(alt for alt, _ in written), *(match[1] if match else "" for match in found)]


def test_every_picture_has_a_text_that_states_what_one_sees(building):
    import links
    import pages

    root = DOCS.parent
    files = [root / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG")]
    files += [path for ending in ("md", "rst") for path in sorted(DOCS.glob(f"**/*.{ending}"))]
    files = [path for path in files if not {"_build", "_templates"} & set(path.parts)]
    found = {str(path.relative_to(root)): texts_of_pictures(path.read_text()) for path in files}
    found |= {name: texts_of_pictures(text) for name, text in pages.gallery().items()}
    untold = {name for name, texts in found.items() if not all(map(links.states, texts))}
    assert untold == set()
    assert all(found[name] for name in ("README.md", "docs/tutorial.md", "profile_forest.md"))
    drawn = len(ml.plots.__all__) + len(pages.layouts())
    assert len(found["index.md"]) == drawn


def test_every_picture_of_a_notebook_has_a_text(building):
    import links
    import notebook_texts

    for path in sorted(DOCS.parent.glob("notebooks/*.ipynb")):
        for cell in json.loads(notebook_texts.described(path))["cells"]:
            kinds = {kind for output in cell.get("outputs", []) for kind in output.get("data", {})}
            if any(kind.startswith("image/") for kind in kinds):
                assert links.states(notebook_texts.seen(cell)), (path.name, cell["id"])


def shown(text):
    """Pictures of the gallery that a page shows, each with the code before it."""
    found = re.finditer(r"gallery/pictures/([\w-]+)\.(?:png|svg)", text)
    return [(match[1], text[: match.start()]) for match in found]


def foreign(text, name, drawn):
    """Figures of a page that its own code does not make; formulas look alike with any data."""
    return [
        picture
        for picture, before in shown(text)
        if picture not in drawn
        and not (picture.startswith(f"page-{name}") and ">>> axes = " in before)
    ]


def test_figures_of_a_page_are_made_by_its_code(building):
    import examples
    import pictures

    formulas = examples.read("linking").cells
    for path in PAGES:
        assert foreign(path.read_text(), path.stem, formulas) == [], path.stem
    assert {"tutorial", "read-a-profile"} <= set(pictures.page_pictures())
    other = "```{image} gallery/pictures/profile_forest.png\n```"
    assert foreign(other, "tutorial", formulas) == ["profile_forest"]
