# SPDX-License-Identifier: GPL-2.0-only
"""Page of weir report as rendered by headless Chromium. Argument: WEIR."""
import html
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from weir_results import call, flows, pipeline, ports, run_json, sweep

import matplotlib.image
import numpy

WIDTH = 1400  # of the window, in pixels
# The page has no script; this script in a copy of it records the layout.
PROBE = """<script>
const box = element => { const r = element.getBoundingClientRect();
                         return [r.left, r.top, r.right, r.bottom]; };
addEventListener("load", () => {
const laidOut = {
  height: document.documentElement.scrollHeight,
  width: document.documentElement.scrollWidth,
  requests: performance.getEntriesByType("resource").map(one => one.name),
  figures: Object.fromEntries([...document.querySelectorAll("figure")].map(figure => {
    const svg = figure.querySelector("svg");
    return [figure.id, {
      box: box(svg),
      marks: [...svg.querySelectorAll("path, use, image, rect, text")]
        .filter(mark => !mark.closest("defs")).length,
      texts: [...svg.querySelectorAll("text")].map(text => [text.textContent, ...box(text)])}];
  }))};
const told = document.createElement("pre");
told.id = "laid-out";
told.textContent = JSON.stringify(laidOut);
document.body.append(told);
});
</script></body>"""
# Messages of scripts and of the parser; failed requests are only in the list of the probe.
CONSOLE = re.compile(r"^\[[^\]]*CONSOLE[^\]]*\].*$", re.MULTILINE)


def browse(page, *arguments, height=1000):
    """Standard output of Chromium for a page, and the lines of the page's console."""
    browser = shutil.which("chromium")
    if browser is None:
        raise AssertionError("found no chromium, expected that of scripts/install-packages test")
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
             "--no-first-run", "--disable-background-networking", "--disable-component-update",
             "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--force-device-scale-factor=1", "--host-resolver-rules=MAP * ~NOTFOUND",
             "--enable-logging=stderr", "--virtual-time-budget=5000", f"--user-data-dir={profile}",
             f"--window-size={WIDTH},{height}", *arguments, page.as_uri()],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=120)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout, CONSOLE.findall(done.stderr)


def layout(page):
    """Layout of a page, and the lines of its console."""
    probe = page.with_name(f"probe-{page.name}")
    text = page.read_text(encoding="utf-8")
    probe.write_text(PROBE.join(text.rsplit("</body>", 1)), encoding="utf-8")
    dom, console = browse(probe, "--dump-dom")
    told = re.search(r'<pre id="laid-out">(.*?)</pre>', dom, re.DOTALL)
    return json.loads(html.unescape(told.group(1))), console


def screenshot(page, height):
    """Pixels of a page, and the lines of its console."""
    picture = page.with_suffix(".png")
    _, console = browse(page, f"--screenshot={picture}", height=height)
    return (matplotlib.image.imread(picture)[:, :, :3] * 255).astype(numpy.uint8), console


class Browser(unittest.TestCase):
    """Pages of every kind of result."""

    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)

    def tearDown(self):
        self.scratch.cleanup()

    def drawn(self, expected, *results):
        """Checks the page of results: console, requests, layout and the ids of its figures."""
        done = call("report", *results, "-o", self.folder / "page.html")
        self.assertEqual(done.returncode, 0, done.stderr)
        page = self.folder / "page.html"
        laid_out, console = layout(page)
        self.assertEqual(console, [])
        self.assertEqual([one for one in laid_out["requests"] if not one.startswith("data:")], [])
        self.assertEqual(set(laid_out["figures"]), expected)
        self.assertLessEqual(laid_out["width"], WIDTH)
        pixels, console = screenshot(page, laid_out["height"])
        self.assertEqual(console, [])
        self.assertEqual(pixels.shape, (laid_out["height"], WIDTH, 3))
        for name, figure in laid_out["figures"].items():
            with self.subTest(figure=name):
                self._check_figure(figure, pixels)

    def _check_figure(self, figure, pixels):
        """A figure has a minimum size, text within its edges and marks in several colors."""
        left, top, right, bottom = figure["box"]
        self.assertGreater(right - left, 300)
        self.assertGreater(bottom - top, 100)
        self.assertGreater(figure["marks"], 20)
        self.assertTrue(figure["texts"])
        for text, *box in figure["texts"]:
            self.assertTrue(left - 1 <= box[0] and top - 1 <= box[1] and box[2] <= right + 1 and
                            box[3] <= bottom + 1, f"'{text}' at {box} leaves {figure['box']}")
        own = pixels[int(top):int(bottom), int(left):int(right)].reshape(-1, 3)
        _, counts = numpy.unique(own, axis=0, return_counts=True)
        self.assertGreater((counts >= 20).sum(), 5)
        self.assertGreater(len(own) - counts.max(), 0.02 * len(own))

    def test_run_with_link_series(self):
        self.drawn({"breakdown", "gantt", "memory", "topology", "link-series", "congestion",
                    "fct"}, pipeline())

    def test_packets_with_port_series(self):
        self.drawn({"topology", "congestion", "queues", "fct"}, ports())

    def test_texts(self):
        """Tables that weir writes as JSON and CSV."""
        self.drawn({"breakdown-run", "memory", "fct", "bandwidth"}, run_json(), flows(),
                   sweep("ring"))

    def test_a_page_that_is_at_fault_is_found_out(self):
        """The checks above can fail: both a script error and a request are detected."""
        page = self.folder / "wrong.html"
        page.write_text("<!DOCTYPE html><html><body><script>nothing.at()</script>"
                        '<img src="http://weir.invalid/a.png"></body></html>', encoding="utf-8")
        laid_out, console = layout(page)
        self.assertIn("nothing is not defined", "".join(console))
        self.assertEqual(laid_out["requests"], ["http://weir.invalid/a.png"])
        self.assertEqual(laid_out["figures"], {})


if __name__ == "__main__":
    unittest.main()
