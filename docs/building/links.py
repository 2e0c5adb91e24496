"""Check that every link of the built pages leads somewhere, and that every picture has a text.

A link to another site is checked for its form only, and listed.
"""

import re
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

SITE = Path(__file__).resolve().parent.parent / "_build" / "html"


@dataclass
class Page(HTMLParser):
    """What a page links to, which of its places can be linked to, and its pictures without text."""

    links: list[str] = field(default_factory=list)
    places: set[str] = field(default_factory=set)
    untold: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note links and places of one element, and a picture without text."""
        for name, value in attrs:
            if name in ("href", "src") and value is not None:
                self.links.append(value)
            elif name == "id" or (tag == "a" and name == "name"):
                self.places.add(value or "")
        told = {name: value or "" for name, value in attrs}
        source = told.get("src", "")
        icon = "_static/" in source  # of the theme
        if tag == "img" and not icon and not states(told.get("alt", "")):
            self.untold.append(source)


def states(text: str) -> bool:
    """Whether a text states what one sees on a picture: some words, and not the name of a file."""
    return len(text.split()) > 3 and not re.search(r"\.(png|svg|jpe?g|gif)$", text)


def read(path: Path) -> Page:
    """Read one page."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def check(site: Path) -> tuple[list[str], list[str]]:
    """Return what is wrong, a line each, and the links to other sites."""
    pages = {
        path.resolve(): read(path)
        for path in sorted(site.rglob("*.html"))
        if "_static" not in path.parts
    }
    wrong: list[str] = []
    elsewhere: set[str] = set()
    for path, page in pages.items():
        where = path.relative_to(site.resolve())
        wrong += [f"{where}: no text states what one sees on {one}" for one in page.untold]
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme in ("data", "mailto", "javascript"):
                continue
            if parts.scheme or parts.netloc:
                elsewhere.add(link)
                if parts.scheme not in ("http", "https") or "." not in parts.netloc:
                    wrong.append(f"{where}: {link} has no right form")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                wrong.append(f"{where}: no file {link}")
            elif parts.fragment and target in pages:
                place = unquote(parts.fragment)
                if place not in pages[target].places:
                    wrong.append(f"{where}: no place {link}")
    return wrong, sorted(elsewhere)


def main() -> int:
    """Check the site, list links to other sites in a file beside it."""
    site = Path(sys.argv[1]) if len(sys.argv) > 1 else SITE
    wrong, elsewhere = check(site)
    (site.parent / "links-to-other-sites.txt").write_text("\n".join(elsewhere) + "\n")
    print("\n".join(wrong or [f"all links of {site} lead somewhere, and all pictures have a text"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
