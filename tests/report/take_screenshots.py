"""Make the pictures of docs/report.md from the demo's city: python tests/report/take_screenshots.py.

Needs Chromium and pdftoppm. Look at them: a test cannot.
"""

import subprocess
import tempfile
from pathlib import Path

from chromium_driver import Page, open_browser

import dpmarkov as dpm
from dpmarkov.demo import make_city

DOCS = Path(__file__).resolve().parents[2] / "docs"


def main() -> None:
    with tempfile.TemporaryDirectory() as name, open_browser() as browser:
        folder = Path(name)
        zones, trips = make_city(folder)
        states = dpm.StateSpace.read(zones, column="zone", label="name")
        counts = dpm.count(trips, source="pickup", target="dropoff", states=states)
        made = dpm.release(counts, unit=dpm.Event(), budget=dpm.Budget(epsilon=1, delta=1e-6))
        path = dpm.write_report(made, folder / "report.html", title="Trips in a made-up city")
        for kind, width, dark, scale in (
            ("light", 1280, False, 0.7),
            ("dark", 1280, True, 0.5),
            ("phone", 390, False, 0.8),
        ):
            page = Page(browser, width=width, dark=dark)
            page.open(path)
            page.screenshot(DOCS / f"report-{kind}.webp", whole=True, kind="webp", quality=55, scale=scale)
            if kind == "light":
                page.pdf(folder / "report.pdf")
        subprocess.run(["pdftoppm", "-png", "-r", "60", folder / "report.pdf", folder / "sheet"], check=True)
        sheets = sorted(folder.glob("sheet*.png"))
        album = folder / "album.html"
        album.write_text(
            "<body style='margin:8px;background:gray;display:grid;grid-template-columns:repeat(4,1fr)'>"
            + "".join(f"<img src='{sheet.name}' style='width:100%'>" for sheet in sheets)
            + "<script>document.documentElement.dataset.ready = 'yes'</script>"
        )
        page = Page(browser, width=1400)
        page.open(album)
        page.screenshot(DOCS / "report-print.webp", whole=True, kind="webp", quality=55, scale=0.8)


if __name__ == "__main__":
    main()
