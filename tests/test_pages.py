"""The page of the benchmarks and the documentation in a browser: no overlaps, no clipped text, and every link works.

A headless Chromium from the system's packages; without it, or without selenium, the tests are skipped.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urlsplit

import pytest

from support import ROOT

webdriver = pytest.importorskip("selenium.webdriver", reason="no selenium")

DOCS = ROOT / "build" / "docs" / "html"
WIDTHS = (480, 1400)
SCHEMES = ("light", "dark")

# Pairs of texts whose letters overlap, and texts that extend beyond the page, unless they are in a scrolling element.
LAYOUT = """
const words = [], found = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
    const node = walker.currentNode, element = node.parentElement;
    if (!node.data.trim() || !element.checkVisibility({opacityProperty: true, visibilityProperty: true})) continue;
    if (element.closest('nav, aside, header, .sidebar-drawer, .toc-drawer, .mobile-header, math, svg')) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects())
        if (box.width > 2 && box.height > 2)
            words.push({text: node.data.trim().slice(0, 40), x0: box.left, x1: box.right, y0: box.top, y1: box.bottom,
                        scrolls: !!element.closest('.wide, .highlight, .table-wrapper, pre, .sig')});
}
words.sort((a, b) => a.y0 - b.y0);
for (let i = 0; i < words.length; ++i) {
    const a = words[i];
    if (!a.scrolls && a.x1 > document.documentElement.clientWidth + 1) found.push(a.text + ' | beyond the page');
    for (let j = i + 1; j < words.length && words[j].y0 < a.y1 - 3; ++j) {
        const b = words[j];
        if (a.scrolls == b.scrolls && Math.min(a.x1, b.x1) - Math.max(a.x0, b.x0) > 2 &&
            Math.min(a.y1, b.y1) - Math.max(a.y0, b.y0) > 0.4 * Math.min(a.y1 - a.y0, b.y1 - b.y0))
            found.push(a.text + ' | ' + b.text);
    }
}
return found;
"""

# The smallest contrast of a text with its background, by the formula of WCAG 2, and that text.
CONTRAST = """
function channels(colour) { return colour.match(/[\\d.]+/g).map(Number); }
function luminance([r, g, b]) {
    const linear = [r, g, b].map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}
function behind(element) {
    for (; element; element = element.parentElement) {
        const colour = channels(getComputedStyle(element).backgroundColor);
        if (colour.length == 3 || colour[3] == 1) return colour;
    }
    return matchMedia('(prefers-color-scheme: dark)').matches ? [18, 18, 18] : [255, 255, 255];
}
let least = [99, ''];
for (const element of document.querySelectorAll('p, td, th, h1, h2, li, code')) {
    if (!element.textContent.trim() || !element.checkVisibility()) continue;
    const levels = [luminance(channels(getComputedStyle(element).color)), luminance(behind(element))].sort((a, b) => b - a);
    const ratio = (levels[0] + 0.05) / (levels[1] + 0.05);
    if (ratio < least[0]) least = [ratio, element.textContent.trim().slice(0, 40)];
}
return least;
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if not program or not driver:
        pytest.skip("no Chromium with its driver (packages chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    opened = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield opened
    opened.quit()


def _look(browser: Any, page: Path) -> None:
    """The page at both widths and in both colour schemes."""
    for width in WIDTHS:
        for scheme in SCHEMES:
            size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            features = [{"name": "prefers-color-scheme", "value": scheme}]
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
            browser.get(page.as_uri())
            where = f"{page.name}, {width} pixels, {scheme}"
            assert browser.execute_script(LAYOUT) == [], where
            assert browser.execute_script("return document.documentElement.scrollWidth") <= width, where
            ratio, text = browser.execute_script(CONTRAST)
            assert ratio >= 4.5, f"{where}: {text!r} has a contrast of {ratio:.1f}"


def _check_links(browser: Any, page: Path) -> None:
    """Links to files and to anchors in them; external links are not checked."""
    browser.get(page.as_uri())
    links = browser.execute_script("return [...document.querySelectorAll('a[href]')].map(a => a.href)")
    for link in dict.fromkeys(links):
        address, place = urldefrag(link)
        parts = urlsplit(address)
        if parts.scheme != "file":
            assert parts.scheme in ("http", "https", "mailto"), f"{page.name}: {link}"
            continue
        file = Path(unquote(parts.path))
        assert file.exists(), f"{page.name}: {link}"
        if place and file.suffix == ".html":
            text = file.read_text(encoding="utf-8")
            assert f'id="{unquote(place)}"' in text, f"{page.name}: {link}"


def test_the_page_of_the_benchmarks(browser: Any, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from test_pictures import figures_of

    from bench.pages import write_html

    page = tmp_path / "page.html"
    write_html(figures_of(40), page)
    _look(browser, page)
    _check_links(browser, page)


def test_the_documentation(browser: Any) -> None:
    if not (DOCS / "index.html").is_file():
        pytest.skip("the pages have not been made (make docs)")
    pages = sorted(page for page in DOCS.rglob("*.html") if "_static" not in page.parts)
    assert len(pages) > 20
    for page in pages:
        _check_links(browser, page)
    of_processors = sorted((DOCS / "figures").glob("*.html"))
    assert len(of_processors) > 1
    for page in (DOCS / "index.html", DOCS / "contracts.html", DOCS / "installing.html", *of_processors):
        _look(browser, page)
