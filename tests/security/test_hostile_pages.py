"""Scripts in everything that a report tells, opened in a browser: none of them runs."""

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest
from helpers.system_chromium import chromium

import measurement_layouts as ml
from measurement_layouts.common.markdown import escaped
from measurement_layouts.linking import logistic, product
from measurement_layouts.reports.report import report
from measurement_layouts.validation.criticism.criticise import criticise

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:.*names that differ in blanks:UserWarning"),
]
RUN = "window.taken=(window.taken||0)+1"
ATTACKS = (
    f"<script>{RUN}</script>",
    f"</script><script>{RUN}</script>",
    f"</style><script>{RUN}</script>",
    f"</title><script>{RUN}</script>",
    f"</textarea></option></select><script>{RUN}</script>",
    f'"><img src=x onerror="{RUN}">',
    f"'><img src=x onerror='{RUN}'>",
    f'" onmouseover="{RUN}" onfocus="{RUN}" autofocus tabindex="0',
    f"<svg onload={RUN}>",
    f"<svg><a xlink:href='javascript:{RUN}'><text>x</text></a></svg>",
    f"<math><mtext></mtext><mglyph><style></math><img src=x onerror={RUN}>",
    f"javascript:{RUN}",
    f"data:text/html,<script>{RUN}</script>",
    f"<!--<script>{RUN}</script>-->",
    f"]]><script>{RUN}</script>",
    f"\u2028{RUN}\u2029//",
    f"`${{{RUN}}}`",
    f"{{{{ {RUN} }}}}{{% raw %}}",
    "}</style><link rel=stylesheet href=http://example.org/x.css>",
    "url(http://example.org/x.png); background:url(http://example.org/y.png)",
    "<iframe src=http://example.org></iframe><base href=http://example.org/>",
    f"\\href{{javascript:{RUN}}}{{x}}$\\href{{javascript:{RUN}}}{{x}}$",
    "<meta http-equiv=refresh content=0;url=http://example.org>",
    f"&lt;script&gt;{RUN}&lt;/script&gt;&#60;script&#62;",
    f"+ADw-script+AD4-{RUN}+ADw-/script+AD4-",
)
WHOLE = " ".join(ATTACKS)


@pytest.fixture(scope="module")
def fit():
    """A subject and an item for every attack; all texts of the layout are all of them at once."""
    labels = (f"first {WHOLE}", ATTACKS[0])
    skill = ml.Capability("skill", low=0, high=1, labels=labels, about=WHOLE)
    demand = ml.MetaFeature("demand", low=0, high=1, labels=labels, about=WHOLE)
    passed = ml.Success(
        "right", product(logistic(6 * (skill - demand)), over="dimension"), about=WHOLE
    )
    layout = ml.Layout(WHOLE, passed)
    rng = np.random.default_rng(1)
    items = pd.DataFrame(rng.random((len(ATTACKS), 2)), ATTACKS, demand.columns)
    items[WHOLE] = np.resize(ATTACKS[:2], len(ATTACKS))
    outcomes = pd.DataFrame(rng.integers(0, 2, (len(ATTACKS), len(ATTACKS))), ATTACKS, ATTACKS)
    evaluation = ml.Evaluation.from_wide(outcomes, items)
    options = {"draws": 50, "chains": 2, "seed": 1, "progressbar": False}
    fitted = ml.fit(layout, evaluation, method="grid", **options)
    return dataclasses.replace(fitted, failures={f"failed {WHOLE}": WHOLE}), evaluation


@pytest.fixture(scope="module")
def page(fit, tmp_path_factory):
    """Its report, with everything that a report can hold."""
    fitted, evaluation = fit
    new = evaluation.items.iloc[:, :2].set_axis([f"new {attack}" for attack in ATTACKS])
    folder = tmp_path_factory.mktemp("<b onmouseover=x> reports")
    return report(
        fitted,
        folder / "page.html",
        evaluation=evaluation,
        forecast=fitted.forecast(new),
        criticism=criticise(fitted, evaluation),
        title=WHOLE,
    )


@pytest.fixture(scope="module")
def browser():
    with chromium() as opened:
        yield opened


def opened(browser, path, *, policy=True):
    """Open a page, move over all of it and click all of it; what ran, was asked for and was said.

    Without the page's policy nothing but its escaping keeps scripts from running.
    """
    context = browser.new_context(bypass_csp=not policy)
    view, asked, said = context.new_page(), [], []
    view.on("request", lambda request: asked.append(request.url))
    view.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    view.on("pageerror", lambda error: said.append(str(error)))
    view.goto(path.as_uri())
    view.evaluate(
        """for (const one of document.querySelectorAll('*'))
             for (const kind of ['mouseover', 'focus', 'click', 'toggle'])
               if (kind != 'click' || one.closest('svg, math, td, th, button, summary'))
                 one.dispatchEvent(new Event(kind, {bubbles: false}))"""
    )
    view.wait_for_timeout(200)
    found = view.evaluate(
        """({taken: window.taken || 0,
             scripts: document.scripts.length,
             foreign: [...document.querySelectorAll(
               'img, iframe, base, object, embed, link, meta[http-equiv=refresh], form')].length,
             handlers: [...document.querySelectorAll('*')].filter(one =>
               [...one.attributes].some(each => each.name.startsWith('on'))).length,
             addresses: [...document.querySelectorAll('[href], [src]')].map(one =>
               (one.getAttribute('href') || one.getAttribute('src')).split(/[,;:]/)[0])})"""
    )
    context.close()
    elsewhere = [url for url in asked if not url.startswith(("file:", "data:"))]
    return found, elsewhere, said


@pytest.mark.parametrize("policy", [True, False], ids=["with its policy", "without its policy"])
def test_nothing_of_theirs_runs(browser, page, policy):
    found, elsewhere, said = opened(browser, page, policy=policy)
    addresses = found.pop("addresses")
    assert found == {"taken": 0, "scripts": 1, "foreign": 0, "handlers": 0}
    assert {each if not each.startswith("#") else "#" for each in addresses} <= {"#", "data"}
    assert elsewhere == said == []


def test_what_runs_would_be_noticed(browser, page, tmp_path):
    """Twin that must fail: the same page, one name of it not escaped, without the policy."""
    worse = tmp_path / "worse.html"
    text = page.read_text(encoding="utf-8")
    worse.write_text(text.replace("</main>", f"{ATTACKS[5]}{ATTACKS[0]}</main>"), encoding="utf-8")
    found, _, _ = opened(browser, worse, policy=False)
    assert found["taken"] >= 1
    assert found["foreign"] == 1
    found, _, _ = opened(browser, worse)
    assert found["taken"] == 0  # the policy alone stops it


def test_the_policy(page):
    text = page.read_text(encoding="utf-8")
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    parts = dict(part.split(" ", 1) for part in policy.split("; "))
    assert re.fullmatch(r"'sha256-[A-Za-z0-9+/=]{44}'", parts.pop("script-src"))
    assert parts == {
        **{"default-src": "'none'", "style-src": "'unsafe-inline'", "img-src": "data:"},
        **{"base-uri": "'none'", "form-action": "'none'"},
    }


@pytest.mark.parametrize("drawn_by", ["dot", "matplotlib"])
def test_a_diagram_alone(browser, fit, tmp_path, monkeypatch, drawn_by):
    """As a file of its own, where a page's policy does not hold, and inside a notebook."""
    if drawn_by == "matplotlib":
        monkeypatch.setenv("PATH", str(tmp_path))
    drawn = fit[0].layout._repr_svg_()
    monkeypatch.undo()
    for name, text in (("own.svg", drawn), ("inside.html", f"<!DOCTYPE html>{drawn}")):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        context = browser.new_context()
        view, asked = context.new_page(), []
        view.on("request", lambda request, asked=asked: asked.append(request.url))
        view.goto(path.as_uri())
        scripts = "document.querySelectorAll('script, foreignObject, image, iframe').length"
        assert view.evaluate(f"[window.taken || 0, {scripts}]") == [0, 0]
        assert len(asked) == 1
        context.close()


def test_markdown(fit, tmp_path):
    """No sign that opens a tag, a link, mathematics or code is left without a backslash."""
    fitted, evaluation = fit
    text = report(fitted, tmp_path / "page.md", evaluation=evaluation, title=WHOLE).read_text()
    shown = ml.describe(fitted)._repr_markdown_()
    (diagram,) = re.findall(r"(?s)^```mermaid\n(.*?)^```$", text, re.MULTILINE)
    assert set(re.findall("<[^>]*>?", diagram)) <= {"<b>", "</b>", "<br/>"}
    for written in (text.replace(diagram, ""), shown):
        assert RUN.split("=")[0] in written.replace("\\", "")
        assert re.findall(r"(?<!\\)(?:\\\\)*<", written) == []
    assert escaped(ATTACKS[0]) in text
