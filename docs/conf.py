"""How Sphinx builds the site; `scripts/docs.sh` first makes the pictures and pages it includes."""

import importlib.util
import shutil
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS / "building"))

import examples  # noqa: E402
import references  # noqa: E402
from notebook_texts import described  # noqa: E402

project = "measurement-layouts"
author = "The measurement-layouts authors"
copyright = author
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_nb",
    "sphinx_design",
    "sphinx_copybutton",
]
exclude_patterns = ["_build", "_extra", "building", "examples", "_templates"]
templates_path = ["_templates"]
default_role = "py:obj"

autosummary_context = {
    "pictures": {
        f"measurement_layouts.{package}.{name}": (name, seen)
        for package, themes in (("plots", examples.THEMES), ("linking", [examples.LINKING]))
        for theme in themes
        for name, seen in examples.read(theme).seen.items()
    }
}
autosummary_filename_map = references.file_names()  # `Fit` and `fit` are one file on some disks
autosummary_ignore_module_all = False
autodoc_typehints = "none"  # the cards say what parameters are
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the class template lists them
numpydoc_xref_param_type = False

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # notebooks are shown as they are stored; the tests run them
nb_merge_streams = True
suppress_warnings = ["mystnb.unknown_mime_type"]  # widgets' states: their text is shown instead

mathjax_path = "tex-svg.js"  # one file, without a network
mathjax3_config = {"tex": {"tags": "none"}, "options": {"enableMenu": False}}

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"

html_theme = "pydata_sphinx_theme"
html_title = project
html_static_path = ["_static"]
html_extra_path = ["_extra"]  # the sample report, the reference as one text
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": project},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": [], "gallery/index": []},
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "tutorial": [], "studies": [], "gallery/**": []}


def copy_what_is_elsewhere() -> None:
    """Put the notebooks and MathJax where Sphinx looks for pages and files."""
    studies = DOCS / "studies"
    studies.mkdir(exist_ok=True)
    notebooks = list((DOCS.parent / "notebooks").glob("*.ipynb"))
    copied = {path.name for path in studies.glob("*.ipynb")}
    for gone in copied - {path.name for path in notebooks}:
        (studies / gone).unlink()
    for notebook in notebooks:
        target = studies / notebook.name
        text = described(notebook)
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")
    package = importlib.util.find_spec("sphinx-mathjax-offline")
    if package is None or package.origin is None:
        raise ImportError("sphinx-mathjax-offline is not installed; pip install '.[docs]'")
    shutil.copy(Path(package.origin).parent / "static" / "mathjax" / "tex-svg.js", DOCS / "_static")


copy_what_is_elsewhere()
