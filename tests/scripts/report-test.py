# SPDX-License-Identifier: GPL-2.0-only
"""Page, figures and refusals of weir report. Argument: WEIR."""
import base64
import functools
import html.parser
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import unittest

from weir_results import (WEIR, bounds, call, cases, flows, pipeline, run_json, sweep, two_jobs,
                          validation)

import h5py
import pandas
import weir.figures
import weir.request
from weir.quantity import in_seconds

VOID = {"meta", "br", "hr", "img", "link", "input", "path", "use", "rect", "image"}
SIGNATURES = {"svg": b"<?xml", "pdf": b"%PDF-", "png": b"\x89PNG", "csv": b""}


class Page(html.parser.HTMLParser):
    """Contents of a page for a browser without network and scripts."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.wanted, self.outside = [], [], [], []
        self.tags, self.headings, self.text = set(), [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if name in ("href", "xlink:href", "src") and value[:1] == "#":
                self.wanted.append(value[1:])
            elif name in ("href", "xlink:href", "src") and not value.startswith("data:"):
                self.outside.append(value)
            self.wanted += re.findall(r"url\(#([^)]*)\)", value or "")
            self.outside += re.findall(r"url\((?!#)[^)]*\)", value or "")

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in VOID:
            if not self.open or self.open[-1] != tag:
                raise AssertionError(f"</{tag}> closes {self.open[-3:]}")
            self.open.pop()

    def handle_data(self, data):
        self.text += data
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)


def report(folder, *arguments):
    """The page that weir report writes, and its standard output."""
    done = call("report", *arguments, "-o", "page.html", folder=folder)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return (pathlib.Path(folder) / "page.html").read_text(encoding="utf-8"), done.stdout


@functools.cache
def page_of_two():
    """The page that compares two runs."""
    with tempfile.TemporaryDirectory() as folder:
        return report(folder, pipeline(), two_jobs())[0]


class Reports(unittest.TestCase):
    """The HTML page."""

    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = self.scratch.name

    def tearDown(self):
        self.scratch.cleanup()

    def test_page_stands_by_itself(self):
        """The page is well-formed, has no script, and refers only to its own elements."""
        text = page_of_two()
        page = Page(text)
        self.assertEqual(page.open, [])
        self.assertEqual(page.outside, [])
        self.assertEqual(len(page.ids), len(set(page.ids)))
        self.assertLessEqual(set(page.wanted), set(page.ids))
        self.assertNotIn("script", page.tags)
        self.assertNotIn("@import", text)
        self.assertEqual((page.headings[0], page.headings[-1]), ("Summary", "Provenance"))

    def test_page_has_every_figure_for_which_there_is_data(self):
        both = Page(page_of_two()).ids
        for name in ("comparison", "breakdown-pipeline", "breakdown-two-jobs", "gantt-pipeline",
                     "topology-pipeline", "link-series-pipeline", "congestion-pipeline", "fct"):
            self.assertIn(name, both)
        self.assertNotIn("link-series-two-jobs", both)
        text, printed = report(self.folder, run_json(), flows(), sweep("ring"))
        page = Page(text)
        for name in ("breakdown-run", "fct", "memory", "bandwidth"):
            self.assertIn(name, page.ids)
        self.assertIn("Figures left out", page.headings)
        self.assertIn("output: {linkSeries: 100us}", page.text)
        self.assertIn("left out of run, flows, ring: link-series: ", printed)

    def test_sweeps_and_runs_have_their_own_figures(self):
        text, printed = report(self.folder, cases())
        page = Page(text)
        self.assertEqual(page.headings, ["Summary", "Results by what varies", "Provenance"])
        self.assertEqual(printed, "report in page.html (1 figure)\n")
        text, printed = report(self.folder, cases(), sweep("ring"))
        self.assertIn("sweep-cases", Page(text).ids)
        self.assertNotIn("left out of cases", printed)

    def test_jobs_of_one_size_each_are_bars_of_what_varies(self):
        """The sizes of two jobs differ, but neither has more than one, which is no axis."""
        data = pandas.DataFrame([
            {"case": case, "algorithm": algorithm, "name": job, "size_bytes": size,
             "measure": "mean call", "value": 1e-3 * (case + 1)}
            for case, algorithm in enumerate(("ring", "tree"))
            for job, size in (("reduce", 1 << 30), ("shuffle", 1 << 20))])
        data.attrs = {"varied": ["algorithm"], "cases": 2, "failed": 0}
        figure = weir.figures.find_figure("sweep").draw(data, None)
        self.assertEqual([axes.get_title(loc="left") for axes in figure.axes],
                         ["reduce", "shuffle"])
        for axes in figure.axes:
            self.assertEqual(axes.get_xlabel(), "algorithm")
            self.assertEqual([bar.get_height() for bar in axes.patches], [1, 2])  # ms

    def test_validations_have_their_own_figures(self):
        text, printed = report(self.folder, validation(), bounds())
        page = Page(text)
        for name in ("parity-validation", "errors-validation", "measured-bandwidth-validation",
                     "bounds-bounds"):
            self.assertIn(name, page.ids)
        self.assertNotIn("gantt", printed)
        self.assertIn("left out of validation: bounds: ", printed)
        self.assertIn("4 cases", page.text)
        self.assertIn("1 BROKEN, 2 met", page.text)

    def test_page_shows_what_the_file_says(self):
        page = Page(page_of_two())
        with h5py.File(two_jobs()) as file:
            for duration in file["steps/duration"][:]:
                self.assertIn(f"{duration:.4g} s", page.text)
            busiest = file["links/name"].asstr()[file["links/utilization"][:].argmax()]
            self.assertIn(f"{busiest} ({file['links/utilization'][:].max():.1%})", page.text)
            self.assertIn(file["provenance/scenario"].asstr()[()], page.text)
            self.assertIn("rows_left_out: 0", page.text)
        for job in ("llama", "other"):
            self.assertIn(job, page.text)

    def test_summary_has_calls_and_flows_of_jobs_without_steps(self):
        (pathlib.Path(self.folder) / "run.yaml").write_text(
            "title: same\nsystem: {base: hgx-h100, nodes: 2}\njobs:\n"
            "  - {name: sum, collective: {op: all-reduce, bytes: 1MiB, calls: 5}}\n"
            "  - {name: noise, traffic: {pattern: permutation, bytes: 1MB, every: 1ms, times: 3}}\n")
        for name in ("a", "b"):
            done = call("run", "run.yaml", "--quiet", "-o", f"{name}.h5", folder=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
        page = Page(report(self.folder, "a.h5", "b.h5")[0])
        calls = weir.open(pathlib.Path(self.folder) / "a.h5").collectives
        mean = (calls["finish"] - calls["start"]).mean()
        self.assertIn("5 calls", page.text)
        self.assertIn(in_seconds(mean), page.text)
        self.assertIn("48 flows", page.text)
        self.assertNotIn("same and same", page.text)
        call("report", "a.h5", "b.h5", "--figure", "comparison", "-o", "c.csv", folder=self.folder)
        compared = (pathlib.Path(self.folder) / "c.csv").read_text(encoding="utf-8")
        self.assertIn(f"collectives,sum: mean call,s,{mean:.9g}", compared)

    def test_results_of_one_name_are_told_apart(self):
        for name in ("a", "b"):
            (pathlib.Path(self.folder) / name).mkdir()
            shutil.copy(flows(), pathlib.Path(self.folder) / name)
        done = call("report", "a/flows.csv", "b/flows.csv", "b/flows.csv", "--figure", "fct", "-o",
                    "fct.csv", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        table = (pathlib.Path(self.folder) / "fct.csv").read_text(encoding="utf-8").splitlines()
        self.assertEqual([row.split(",")[0] for row in table[1:]],
                         ["a/flows"] * 2 + ["b/flows"] * 2 + ["b/flows-2"] * 2)

    def test_data_beside_a_figure_is_its_csv(self):
        text, _ = report(self.folder, flows())
        inside = re.search(r'download="fct.csv" href="data:text/csv;base64,([^"]*)"', text).group(1)
        call("report", flows(), "--figure", "fct", "-o", "fct.csv", folder=self.folder)
        self.assertEqual(base64.b64decode(inside),
                         (pathlib.Path(self.folder) / "fct.csv").read_bytes())

    def test_texts_of_a_file_are_not_markup(self):
        path = pathlib.Path(self.folder) / "a&<b>.json"
        run = json.loads(run_json().read_text(encoding="utf-8"))
        run["title"] = run["jobs"][0]["name"] = "<script>alert('&')</script>"
        path.write_text(json.dumps(run), encoding="utf-8")
        page = Page(report(self.folder, path)[0])
        self.assertNotIn("script", page.tags)
        self.assertIn("<script>alert('&')</script>", page.text)

    def test_figures_in_every_format(self):
        text, printed = report(self.folder, flows(), "--figures", "pictures")
        self.assertIn("figures in pictures", printed)
        made = {path.name: path.read_bytes()
                for path in (pathlib.Path(self.folder) / "pictures").iterdir()}
        self.assertEqual(set(made), {f"fct.{kind}" for kind in SIGNATURES})
        for name, content in made.items():
            self.assertTrue(content.startswith(SIGNATURES[name.rpartition(".")[2]]), name)
        self.assertIn("<svg", text)

    def test_same_results_give_the_same_bytes(self):
        """Two processes write identical pages and figures in every format."""
        made = []
        for turn in "ab":
            text, _ = report(self.folder, sweep("ring"), run_json(), "--figures", turn)
            folder = pathlib.Path(self.folder) / turn
            made.append({"page": text, **{path.name: path.read_bytes()
                                          for path in folder.iterdir()}})
        self.assertEqual(len(made[0]), 1 + 4 * 3)
        for name, content in made[0].items():
            self.assertEqual(content, made[1][name], name)

    def test_measured_points_need_two_columns(self):
        path = pathlib.Path(self.folder) / "measured.csv"
        path.write_text("size_bytes,busbw_GBps\n1048576,20\n", encoding="utf-8")
        call("report", sweep("ring"), "--figure", "bandwidth", "--measured", path, "-o", "b.csv",
             folder=self.folder)
        table = (pathlib.Path(self.folder) / "b.csv").read_text(encoding="utf-8").splitlines()
        self.assertTrue(table[-1].startswith("measured,measured,,1048576,20"), table[-1])

    def test_help_names_every_figure(self):
        listed = re.search(r"--figure NAME\s+Write only one figure: (.*)",
                           call("report", "--help").stdout).group(1)
        self.assertEqual(re.split(", | or ", listed),
                         [figure.name for figure in weir.figures.FIGURES])


class Refusals(unittest.TestCase):
    """Invalid input gives exit code 2 and one line, and no file is written."""

    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)
        (self.folder / "run.yaml").write_text("title: two\nsystem: {base: s, nodes: 2, x: 3}\n")
        (self.folder / "text.csv").write_text("a,b\n1,2\n", encoding="utf-8")
        (self.folder / "words.csv").write_text(
            "collective,size_bytes,time_us,algbw_GBps,busbw_GBps\n"
                                               "all-reduce,8,x,1,1\n", encoding="utf-8")
        (self.folder / "torn.json").write_text('{"jobs": [{', encoding="utf-8")
        (self.folder / "bytes").write_bytes(bytes(range(128, 256)))
        (self.folder / "empty.csv").write_bytes(b"")
        with h5py.File(self.folder / "other.h5", "w") as file:
            file["x"] = [1, 2]
        (self.folder / "torn.h5").write_bytes(two_jobs().read_bytes()[:5000])
        for path in (two_jobs(), pipeline(), sweep("ring")):
            shutil.copy(path, self.folder)

    def tearDown(self):
        self.scratch.cleanup()

    def snapshot(self):
        """Names and contents of the files of the folder."""
        return {path.name: path.is_file() and path.read_bytes() for path in self.folder.iterdir()}

    def refused(self, says, *arguments, code=2, **further):
        """Checks one refusal of the command."""
        before = self.snapshot()
        with self.subTest(arguments=arguments):
            done = call("report", *arguments, folder=self.folder, **further)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertEqual(done.stdout, "")
            self.assertTrue(done.stderr.startswith("weir: "), done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn(says, done.stderr)
            self.assertEqual(self.snapshot(), before)

    def denied(self, says, *results, output="a.html", **options):
        """Checks one refusal of the package in this process; a new process takes a second."""
        request = {"results": [str(path) for path in results], "output": output, "figure": "",
                   "figures": "", "ranks": None, "window": None, "link": None, "measured": None,
                   "title": "", **options}
        before, here = self.snapshot(), os.getcwd()
        os.chdir(self.folder)
        try:
            with self.subTest(request=request):
                with self.assertRaises(weir.InputError) as refusal:
                    weir.request.run(request)
                self.assertIn(says, str(refusal.exception))
                self.assertNotIn("\n", str(refusal.exception))
                self.assertEqual(self.snapshot(), before)
        finally:
            os.chdir(here)

    def test_command(self):
        self.refused("/dev/zero: found a device", "/dev/zero", "-o", "a.html")
        self.refused("missing.h5: found no file that can be read (No such file or directory), "
                     "expected a result", "missing.h5", "-o", "a.html")
        self.refused("torn.h5: found an HDF5 file that cannot be read", "torn.h5", "-o", "a.html")
        self.refused("--measured: /dev/zero: found a device, expected a CSV", "ring.csv",
                     "--measured", "/dev/zero", "--figure", "bandwidth", "-o", "a.svg")
        self.refused("--link: two-jobs.h5: found no link 'x->y'", "two-jobs.h5", "--link", "x->y",
                     "-o", "a.html")
        self.refused("--figure comparison: two-jobs.h5: there is 1 result;", "two-jobs.h5",
                     "--figure", "comparison", "-o", "a.svg")
        self.refused("expected another file than the input 'two-jobs.h5'", "two-jobs.h5", "-o",
                     "./two-jobs.h5")
        self.refused("--figure: found 'gant', expected one of: sweep, comparison",
                     "two-jobs.h5", "--figure", "gant", "-o", "a.svg")
        self.refused("output: {linkSeries: 100us}", "two-jobs.h5", "--figure", "link-series", "-o",
                     "a.svg")
        self.refused("--ranks: found 77, expected ranks that", "--figure", "gantt", "--ranks",
                     "0,77", "two-jobs.h5", "-o", "a.svg")
        self.refused("--window: found no operation", "two-jobs.h5", "--figure", "gantt", "-o",
                     "a.svg", "--window", "5000s:6000s")

    def test_options(self):
        self.refused("found no --output, expected", "two-jobs.h5")
        self.refused("--figures: found it beside --figure", "two-jobs.h5", "-o", "a.svg",
                     "--figure", "gantt", "--figures", "pictures")
        self.refused("--window: found '5ms', expected START:END", "two-jobs.h5", "-o", "a.html",
                     "--window", "5ms")
        self.refused("--window: found '5' without a unit", "two-jobs.h5", "-o", "a.html",
                     "--window", "5:6")
        self.refused("--window: found '9ms:5ms', expected an end after the start", "two-jobs.h5",
                     "-o", "a.html", "--window", "9ms:5ms")

    def test_columns_of_another_type(self):
        """A name is a text, a column with a unit has numbers, one with a catalog its rows."""
        whole = (self.folder / "two-jobs.h5").read_bytes()
        path = self.folder / "foreign.h5"
        text = h5py.string_dtype()
        for column, dtype, found, expected in (
                ("links/name", "f8", "numbers (float64)", "texts"),
                ("links/bytes", text, "texts", "numbers in the unit 'B'"),
                ("flows/start", text, "texts", "numbers in the unit 's'"),
                ("flows/job", text, "texts", "whole numbers, rows of /catalogs/jobs/name"),
                ("flows/job", "f8", "numbers (float64)",
                 "whole numbers, rows of /catalogs/jobs/name"),
                ("catalogs/jobs/name", "i4", "numbers (int32)", "texts")):
            path.write_bytes(whole)
            with h5py.File(path, "r+") as file:
                old = file[column]
                attributes = {name: old.attrs[name] for name in ("units", "catalog")
                              if name in old.attrs}
                values = ["1"] * len(old) if dtype is text else [1] * len(old)
                del file[column]
                file.create_dataset(column, data=values, dtype=dtype).attrs.update(attributes)
            group, name = column.rsplit("/", 1)
            self.denied(f"foreign.h5: /{group}: column '{name}': found {found}, expected "
                        f"{expected}", "foreign.h5")

    def test_files_that_are_no_results(self):
        self.denied("text.csv: found no table of weir, expected a result", "text.csv")
        self.denied("run.yaml: found no table of weir, expected a result", "run.yaml")
        self.denied("words.csv: found a value in column time_us that is no number", "words.csv")
        header = "collective,size_bytes,time_us,algbw_GBps,busbw_GBps\n"
        for rows, says in (("", "found no row below the header"),
                           ("all-reduce,-8,1,1,1\n", "found -8 in column size_bytes, expected"),
                           ("all-reduce,8,inf,1,1\n", "found inf in column time_us, expected")):
            (self.folder / "rows.csv").write_text(header + rows, encoding="utf-8")
            self.denied(f"rows.csv: {says}", "rows.csv")
        (self.folder / "rows.csv").write_text("size_bytes,busbw_GBps\n8,inf\n", encoding="utf-8")
        self.denied("--measured: rows.csv: found inf in column busbw_GBps, expected", "ring.csv",
                    output="a.svg", figure="bandwidth", measured="rows.csv")
        self.denied("torn.json:1:12: found no run of weir, as it is no JSON", "torn.json")
        run = json.loads(run_json().read_text(encoding="utf-8"))
        run["jobs"][0]["stages"][0]["compute"] = "long"
        (self.folder / "word.json").write_text(json.dumps(run), encoding="utf-8")
        self.denied("word.json: found a value in compute of summary that is no number",
                    "word.json")
        (self.folder / "map.json").write_text("{}", encoding="utf-8")
        self.denied("map.json: found no run of weir, as it has no 'jobs'", "map.json")
        self.denied("bytes: found bytes that are no text", "bytes")
        self.denied("empty.csv: found nothing in it", "empty.csv")
        self.denied("other.h5: found an HDF5 file without /provenance of Weir", "other.h5")
        self.denied("text.csv: found no table", "two-jobs.h5", "text.csv")

    def test_outputs(self):
        os.symlink("two-jobs.h5", self.folder / "link.html")
        self.denied("expected another file than the input", "two-jobs.h5", output="link.html")
        self.denied("expected another file than the input 'ring.csv'", "two-jobs.h5",
                    output="ring.csv", figure="breakdown", measured="ring.csv")
        self.denied("which is a folder", "two-jobs.h5", output=".")
        self.denied("found 'none/a.html' in 'none', which is no folder", "two-jobs.h5", output="none/a.html")
        os.symlink("loop.html", self.folder / "loop.html")
        self.denied("a link that leads to no file", "two-jobs.h5", output="loop.html")
        self.denied("-o: found 'a.pdf', expected a name that ends in .html", "two-jobs.h5",
                    output="a.pdf")
        for name, kind in (("foreign.html", "HTML"), ("foreign.csv", "CSV")):
            (self.folder / name).write_text("some,where\n", encoding="utf-8")
            self.denied(f"found '{name}', which is no {kind} that weir has written", "ring.csv",
                        output=name, figure="" if kind == "HTML" else "bandwidth")
        self.denied("--figures: cannot make the folder 'text.csv'", "two-jobs.h5",
                    figures="text.csv")
        self.denied("ends in one of: .svg, .pdf, .png, .csv", "two-jobs.h5", output="a.gif",
                    figure="gantt")

    def test_an_input_in_the_folder_of_the_figures_is_kept(self):
        (self.folder / "ring.csv").rename(self.folder / "bandwidth.csv")
        self.denied("expected another file than the input 'bandwidth.csv'", "bandwidth.csv",
                    figures=".")

    def test_choices(self):
        self.denied("--figure gantt: found 2 results, expected one", "two-jobs.h5", "pipeline.h5",
                    output="a.svg", figure="gantt")
        self.denied("found no link 'x->y'", "two-jobs.h5", link="x->y")
        self.denied("expected a CSV with the columns size_bytes and busbw_GBps", "ring.csv",
                    measured=str(flows()))
        self.denied("--window: found it with --figure breakdown, expected --figure gantt or ",
                    "two-jobs.h5", output="a.svg", figure="breakdown", window=[0, 1])
        self.denied("--measured: found it where no figure is drawn that follows it",
                    "two-jobs.h5", measured="ring.csv")

    def test_python_without_modules(self):
        """Exit code 1, because the results are valid."""
        bare = self.folder / "bare-python"
        bare.write_text('#!/bin/sh\nexec /usr/bin/python3 -S "$@"\n', encoding="utf-8")
        bare.chmod(0o755)
        for python, says in ((bare, "without h5py, matplotlib, numpy, pandas, expected"),
                             ("/bin/true", "found '/bin/true', which runs no Python program"),
                             ("/bin/false", "found '/bin/false', which runs no Python program"),
                             ("/nowhere/python3", "found no working '/nowhere/python3'")):
            self.refused(says, "two-jobs.h5", "-o", "a.html", code=1,
                         env={**os.environ, "WEIR_PYTHON": str(python)})

    def test_signals(self):
        """A signal while a result is read gives one line and exit code 128 + signal number."""
        os.mkfifo(self.folder / "pipe.csv")
        for number in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen([WEIR, "report", "pipe.csv", "-o", "a.html"],
                                       cwd=self.folder, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True)
            with open(self.folder / "pipe.csv", "wb"):  # blocks until it is read
                process.send_signal(number)
                out, error = process.communicate()
            self.assertEqual((out, error), ("", "weir: interrupted; nothing was written\n"))
            self.assertEqual(process.returncode, 128 + number)
            self.assertFalse((self.folder / "a.html").exists())

    def test_nothing_half_written_stays_when_the_disk_is_full(self):
        """A file size limit replaces the full disk: the figures fit, the page does not."""
        before = self.snapshot()
        done = subprocess.run(
            [WEIR, "report", flows(), "-o", "a.html", "--figures", "pictures"],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000)))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("weir: cannot write the report: ", done.stderr)
        self.assertEqual(self.snapshot(), before)


if __name__ == "__main__":
    unittest.main()
