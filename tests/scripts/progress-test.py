# SPDX-License-Identifier: GPL-2.0-only
"""Progress on a terminal, no output to a pipe, and files left by Ctrl-C.

progress-test.py WEIR
"""
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import tempfile
import unittest

WEIR = pathlib.Path(sys.argv.pop()).resolve()

# Runs for minutes, so the tests always interrupt it.
LONG = """
title: long
system: {base: dgx-a100, nodes: 2, fabric: {kind: rail-optimized, leafRadix: 4}}
jobs:
  - {name: a, collective: {op: all-reduce, bytes: 1MB, calls: 400000}}
network: {fidelity: flow}
output: {file: long.h5}
"""


class Progress(unittest.TestCase):
    """The weir command with a pseudo-terminal as standard error."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "long.yaml").write_text(LONG)

    def interrupted(self, *arguments, number=signal.SIGINT, until=r"\r"):
        """(exit code, terminal output, standard output) of a run that gets a signal, by default
        that of Ctrl-C, once the terminal output matches the regular expression `until`."""
        terminal, its_end = pty.openpty()
        run = subprocess.Popen([WEIR, *arguments], cwd=self.folder, stdout=subprocess.PIPE,
                               stderr=its_end, text=True)
        os.close(its_end)
        shown = ""
        is_asked = False
        while True:
            try:
                part = os.read(terminal, 4096).decode()
            except OSError:  # the other end was closed
                part = ""
            if not part:
                break
            shown += part
            if not is_asked and re.search(until, shown):
                run.send_signal(number)
                is_asked = True
        os.close(terminal)
        out = run.communicate()[0]
        return run.returncode, shown, out

    def test_any_signal_that_asks_ends_any_verb(self):
        calls = ["run", "long.yaml", "--timeline", "a.json"]
        calibration = ["calibrate", "--shortcut", "steps", "-j", "2", "-o", "a.yaml"]
        correction = ["calibrate", "--corrections", "roce-hpcc", "-o", "a.yaml"]
        for number, arguments in ((signal.SIGHUP, calls), (signal.SIGTERM, calls),
                                  (signal.SIGTERM, calibration), (signal.SIGHUP, correction)):
            code, shown, out = self.interrupted(*arguments, number=number)
            self.assertEqual((code, out), (128 + number, ""))
            self.assertIn("weir: interrupted; nothing was written", shown)
            self.assertEqual(os.listdir(self.folder), ["long.yaml"])

    def test_a_run_says_how_far_it_is_and_leaves_nothing(self):
        code, shown, out = self.interrupted("run", "long.yaml")
        self.assertRegex(shown, r"long: (\d+ %, )?simulated [\d.]+ \w+ in [\d.]+ \w+ "
                                r"\([\d.]+ \w+ a second\)(, [\d.]+ \w+ left)?")
        self.assertEqual(code, 128 + signal.SIGINT)
        self.assertIn("weir: interrupted; nothing was written", shown)
        self.assertEqual(out, "")
        self.assertEqual(os.listdir(self.folder), ["long.yaml"])

    def test_keep_partial_keeps_the_calls_that_are_done(self):
        code, shown, out = self.interrupted("run", "long.yaml", "--keep-partial", "--json")
        self.assertEqual(code, 128 + signal.SIGINT)
        self.assertIn("weir: interrupted; kept the results so far, marked as partial", shown)
        result = json.loads(out)
        self.assertTrue(result["partial"])
        calls = result["collectives"][0]["calls"]
        self.assertTrue(0 < calls < 400000, calls)
        self.assertEqual(sorted(os.listdir(self.folder)), ["long.h5", "long.yaml"])

    def test_a_sweep_keeps_the_sizes_that_are_done(self):
        sizes = ",".join(str(4194304 + 4 * i) for i in range(3000))
        arguments = ["collective", "--system", "hgx-h100", "--nodes", "16", "--op", "all-reduce",
                     "--fidelity", "flow", "--sizes", sizes, "--csv", "a.csv"]
        code, shown, _ = self.interrupted(*arguments)
        self.assertRegex(shown, r"all-reduce: (\d+ %, )?\d+ of 3000 cases, in [\d.]+ \w+")
        self.assertEqual((code, os.listdir(self.folder)), (128 + signal.SIGINT, ["long.yaml"]))
        code, shown, _ = self.interrupted(*arguments, "--keep-partial")
        self.assertIn("kept the finished sizes", shown)
        self.assertEqual(code, 128 + signal.SIGINT)
        rows = (self.folder / "a.csv").read_text().splitlines()
        self.assertTrue(1 < len(rows) < 3001, len(rows))

    def test_flows_that_have_ended_are_kept(self):
        count = 600000
        with open(self.folder / "f.csv", "w") as flows:
            flows.write("src,dst,bytes,start_s\n")
            for i in range(count):
                flows.write(f"{i % 61},{64 + i % 59},{1000 + i % 7919 * 1000},{i * 1e-6:.6f}\n")
        arguments = ["flows", "--topology", "hgx-h100", "--nodes", "16", "--flows", "f.csv",
                     "--csv", "a.csv", "--json"]
        code, shown, _ = self.interrupted(*arguments)
        self.assertEqual(code, 128 + signal.SIGINT)
        self.assertEqual(sorted(os.listdir(self.folder)), ["f.csv", "long.yaml"])
        code, shown, out = self.interrupted(*arguments, "--keep-partial")
        self.assertIn("kept the finished flows", shown)
        self.assertEqual(code, 128 + signal.SIGINT)
        result = json.loads(out)
        self.assertTrue(result["partial"])
        rows = (self.folder / "a.csv").read_text().splitlines()
        self.assertTrue(1 < len(rows) < count + 1, len(rows))
        self.assertEqual(result["flows"], len(rows) - 1)

    def test_a_comparison_of_fidelities_says_how_far_it_is(self):
        for suite, part in (("fidelity", "calls"), ("bound", "collectives, calibrated")):
            progress = part + r": \d+ %, \d+ of \d+ cases, in [\d.]+ \w+, [\d.,]+ \w+ left"
            code, shown, out = self.interrupted("validate", suite, "-o", "suite.h5", until=progress)
            self.assertRegex(shown, progress)
            self.assertEqual((code, out), (128 + signal.SIGINT, ""))
            self.assertEqual(os.listdir(self.folder), ["long.yaml"])

    def test_a_pipe_hears_nothing(self):
        run = subprocess.run([WEIR, "run", "long.yaml", "--quiet", "--set",
                              "jobs.0.collective.calls=1000"], cwd=self.folder, check=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual((run.stdout, run.stderr), ("", ""))

    def test_cases_end_where_a_parent_ignored_their_ends(self):
        """A program that starts with SIGCHLD ignored gets no exit codes of its processes."""
        (self.folder / "two.yaml").write_text(
            "command: collective --system dgx-a100 --op all-reduce --sizes 1MiB\n"
            "vary: {--algorithm: [ring, tree]}\n")
        run = subprocess.run([WEIR, "sweep", "two.yaml", "--csv", "two.csv"], cwd=self.folder,
                             preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
                             capture_output=True, text=True, timeout=60)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(len((self.folder / "two.csv").read_text().splitlines()), 3)


if __name__ == "__main__":
    unittest.main()
