"""The report in a real Chromium: no complaint, no request, and every part of it works."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from chromium_driver import CHROMIUM, Browser, Page, open_browser

import dpmarkov as dpm

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium on this machine (apt-get install chromium)"
)

FOCUSED = "(() => { const e = document.activeElement; return e.id || `${e.tagName} ${e.className}`; })()"
HOVER_TEXT = "[...document.querySelectorAll('.hoverlayer')].map((e) => e.textContent).join('')"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def city_page(city: dpm.Release, report_folder: Path) -> Path:
    return dpm.write_report(city, report_folder / "city.html")


@pytest.fixture(scope="module")
def desk(browser: Browser, city_page: Path) -> Page:
    page = Page(browser)
    page.open(city_page)
    return page


def left_the_page(page: Page) -> list[str]:
    """Requests other than for the file itself and for data within it."""
    return [url for url in page.requests()[1:] if not url.startswith("data:")]


def test_the_driver_sees_what_goes_wrong(browser: Browser, tmp_path: Path) -> None:
    """The power of the checks below: a page that complains, fails and asks for more is found out."""
    bad = tmp_path / "bad.html"
    bad.write_text(
        "<body><img src='http://127.0.0.1:9/leak.png'><script>console.warn('careful');"
        "document.documentElement.dataset.ready = 'yes';"
        "setTimeout(() => { throw Error('late') }, 50)</script>"
    )
    page = Page(browser)
    page.open(bad)
    assert left_the_page(page) == ["http://127.0.0.1:9/leak.png"]
    complaints = " ".join(page.complaints())
    assert "careful" in complaints
    assert "late" in complaints


def test_no_complaint_and_no_request(desk: Page) -> None:
    assert desk.complaints() == []
    assert left_the_page(desk) == []
    assert desk.value("document.querySelectorAll('.plot').length") == 7
    assert desk.value("[...document.querySelectorAll('.plot')].every((p) => p.querySelector('svg.main-svg'))")


def test_nothing_offers_to_send_the_figure_away(desk: Page) -> None:
    titles = desk.value("[...document.querySelectorAll('.modebar-btn')].map((b) => b.dataset.title)")
    assert titles
    assert not [t for t in titles if any(word in t.lower() for word in ("cloud", "edit", "share", "link"))]


@pytest.mark.parametrize(
    ("name", "x", "y", "words"),
    [
        ("transitions", 0.4, 0.3, ("from", "to", "probability", "interval")),
        ("stationary", 0.02, 0.02, ("long-run share", "%")),
        ("privacy", 0.5, 0.5, ("ε", "δ")),
        ("mixing", 0.3, 0.3, ("after", "steps", "distance")),
        ("accuracy", 0.5, 0.5, ("events", "row error")),
        ("eigenvalues", 0.5, 0.5, ("modulus",)),
    ],
)
def test_hover_tells_the_numbers(desk: Page, name: str, x: float, y: float, words: tuple[str, ...]) -> None:
    desk.hover(f"#plot-{name} .nsewdrag", x=x, y=y)
    told = desk.value(HOVER_TEXT)
    for word in words:
        assert word in told, f"{name}: {told!r}"


def test_hover_over_a_flow(desk: Page) -> None:
    desk.hover("#plot-flows .sankey-link")
    assert "→" in desk.value(HOVER_TEXT)


def test_the_heat_map_is_reordered_by_keyboard(desk: Page, city: dpm.Release) -> None:
    """Other rows and columns, the same number for each pair of states."""
    find = (
        "(() => { const t = document.getElementById('plot-transitions').data[0];"
        "const i = t.y.indexOf('Mill Hill'), j = t.x.indexOf('South Bridge');"
        "return [t.x[0], i, j, Array.isArray(t.customdata) ? t.customdata[i][j][0] : null]; })()"
    )
    desk.value("document.getElementById('order').focus()")
    desk.key("ArrowDown", 40)
    desk.browser.listen(0.5)
    labels = city.layout.target.labels
    first, i, j, p = desk.value(find)
    top = labels[int(city.stationary_distribution.argmax())]
    assert first == top
    assert np.isclose(p, city.transition_matrix[labels.index("Mill Hill"), labels.index("South Bridge")])
    assert "share" in desk.value("document.getElementById('order-said').textContent")
    desk.key("ArrowDown", 40)
    desk.browser.listen(0.5)
    first, a, b, again = desk.value(find)
    assert (a, b) != (i, j)
    assert again == p
    assert desk.complaints() == []


def test_the_keyboard_reaches_everything(browser: Browser, city_page: Path) -> None:
    page = Page(browser)
    page.open(city_page)
    page.send("Page.bringToFront")
    seen = []
    for _ in range(90):
        page.key("Tab", 9)
        seen.append(page.value(FOCUSED))
    assert seen[0] == "A skip"
    assert "order" in seen
    for kind in ("SUMMARY", "PRE", "DIV scroll"):
        assert any(kind in entry for entry in seen), f"{kind} is not reached: {seen}"


def test_what_a_screen_reader_hears(desk: Page) -> None:
    assert desk.value("document.documentElement.lang") == "en"
    levels = desk.value("[...document.querySelectorAll('h1,h2,h3')].map((e) => +e.tagName[1])")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in itertools.pairwise(levels))
    assert desk.value("[...document.querySelectorAll('.plot')].every((p) => p.getAttribute('aria-label'))")
    assert desk.value("[...document.querySelectorAll('table')].every((t) => t.caption && t.tHead)")
    assert desk.value("document.querySelector('label').control.id") == "order"


CONTRAST = """
(() => {
  const light = (c) => {
    const v = c.match(/[\\d.]+/g).slice(0, 3).map((x) => x / 255)
      .map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
    return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2];
  };
  const back = (e) => {
    for (; e; e = e.parentElement) {
      const c = getComputedStyle(e).backgroundColor;
      if (!/, 0\\)$/.test(c)) return c;
    }
    return "rgb(255, 255, 255)";
  };
  let worst = 99;
  for (const e of document.querySelectorAll(
    "p, a, dt, dd, td, th, caption, figcaption, summary, h1, h2, h3, select")) {
    if (!e.textContent.trim() || e.className === "skip") continue;
    const pair = [light(getComputedStyle(e).color), light(back(e))].sort((a, b) => b - a);
    worst = Math.min(worst, (pair[0] + 0.05) / (pair[1] + 0.05));
  }
  return worst;
})()
"""


@pytest.mark.parametrize("dark", [False, True])
def test_light_and_dark_can_be_read(browser: Browser, city_page: Path, dark: bool) -> None:
    page = Page(browser)
    page.open(city_page)
    page.scheme(dark=dark)
    browser.listen(0.5)
    ink = page.value("getComputedStyle(document.body).color")
    drawn = page.value("getComputedStyle(document.querySelector('#plot-stationary .xtitle')).fill")
    assert drawn == ink, "the figures do not follow the page"
    assert page.value(CONTRAST) >= 4.5
    assert page.complaints() == []


def test_phone_width(browser: Browser, city_page: Path) -> None:
    page = Page(browser, width=360, height=740)
    page.open(city_page)
    assert page.value("document.documentElement.scrollWidth") <= 360
    assert page.value(
        "[...document.querySelectorAll('.plot svg.main-svg')].every((s) => s.clientWidth <= 360)"
    )
    assert page.complaints() == []


def test_print(desk: Page, tmp_path: Path) -> None:
    desk.scheme(dark=True)
    desk.browser.listen(0.5)
    desk.pdf(tmp_path / "report.pdf")
    written = (tmp_path / "report.pdf").read_bytes()
    assert written.startswith(b"%PDF")
    assert 5 <= written.count(b"/Type /Page\n") + written.count(b"/Type /Page ") <= 20
    desk.browser.listen(0.3)
    assert desk.complaints() == []


def test_printing_is_light_and_complete(browser: Browser, city_page: Path) -> None:
    page = Page(browser, dark=True)
    page.open(city_page)
    page.value("window.dispatchEvent(new Event('beforeprint'))")
    ink = page.value("getComputedStyle(document.querySelector('#plot-stationary .xtitle')).fill")
    assert ink == "rgb(28, 36, 48)"
    assert page.value("document.querySelectorAll('#plot-flows .sankey-link').length") == 25
    page.value("window.dispatchEvent(new Event('afterprint'))")
    assert page.value("getComputedStyle(document.querySelector('#plot-stationary .xtitle')).fill") != ink


def test_hostile_names_stay_text(browser: Browser, hostile: dpm.Release, report_folder: Path) -> None:
    title = "</title><script>window.hacked = 4</script>"
    path = dpm.write_report(hostile, report_folder / "hostile.html", title=title)
    page = Page(browser)
    page.open(path)
    page.hover("#plot-transitions .nsewdrag", x=0.02, y=0.02)
    assert "</script><script>window.hacked" in page.value(HOVER_TEXT)
    page.hover("#plot-flows .sankey-link")
    assert page.value("window.hacked ?? 'safe'") == "safe"
    assert page.value("document.querySelectorAll('a[href*=example], img, .plot a[*|href]').length") == 0
    assert page.value("document.title") == title
    assert page.complaints() == []
    assert left_the_page(page) == []


def test_the_policy_stops_what_would_break_out(browser: Browser, city_page: Path, tmp_path: Path) -> None:
    """Should escaping ever fail: a foreign script does not run, and nothing is fetched."""
    attack = "<script>hacked = 5</script><img src='http://127.0.0.1:9/leak.png' onerror='hacked = 6'>"
    broken = tmp_path / "broken.html"
    broken.write_text(
        city_page.read_text(encoding="utf-8").replace("</main>", attack + "</main>"), encoding="utf-8"
    )
    page = Page(browser)
    page.open(broken)
    assert page.value("window.hacked ?? 'safe'") == "safe"
    assert "Content Security Policy" in " ".join(page.complaints())


def test_many_states_and_a_map(
    browser: Browser, many: dpm.Release, report_folder: Path, places: dict[str, object]
) -> None:
    page = Page(browser)
    path = dpm.write_report(many, report_folder / "many.html", geojson=places)
    assert path.stat().st_size < 8_000_000
    page.open(path)
    page.hover("#plot-transitions .nsewdrag", x=0.7, y=0.7)
    assert "probability" in page.value(HOVER_TEXT)
    page.hover("#plot-map .nsewdrag", x=0.08, y=0.5)
    assert "%" in page.value(HOVER_TEXT)
    assert page.complaints() == []
    assert left_the_page(page) == []


def test_without_scripts_the_page_still_tells(browser: Browser, city_page: Path) -> None:
    page = Page(browser)
    page.send("Emulation.setScriptExecutionDisabled", value=True)
    page.send("Page.navigate", url=city_page.resolve().as_uri())
    browser.listen(1.0)
    text = str(page.send("Accessibility.getFullAXTree"))
    assert "What is protected, and what is not" in text
    assert "Table of all shares" in text
