# SPDX-License-Identifier: GPL-2.0-only
"""The parts of scripts/bench-fluid that determine the contents of its tables, without timing."""
import pathlib
import re
import sys
import tempfile
import types
import unittest

from script_module import SCRIPTS, call

sys.path.insert(0, str(SCRIPTS / "bench"))

import fluid_cell  # noqa: E402
import fluid_compare  # noqa: E402
import fluid_scale  # noqa: E402


def program(folder, text):
    """A shell script in place of a benchmark program."""
    file = pathlib.Path(folder) / "program"
    file.write_text("#!/bin/sh\n" + text, encoding="ascii")
    file.chmod(0o755)
    return file


class Sources(unittest.TestCase):
    """The benchmarks are built only on request, so the removal of a header is found here."""

    def test_included_files_exist(self):
        root = SCRIPTS.parent
        sources = list((SCRIPTS / "bench").glob("*.cc"))
        self.assertGreater(len(sources), 5)
        for source in sources:
            for name in re.findall(r'^#include "((?!ns3/)[^"]+)"', source.read_text(), re.MULTILINE):
                folders = (root, root / "ns3-module", source.parent)
                self.assertTrue(any((folder / name).exists() for folder in folders), name)


class Limits(unittest.TestCase):
    """Each cell runs in its own process with limits."""

    def run_text(self, text, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            return fluid_cell.run(program(folder, text), arguments, 1, 1)

    def test_figures_are_read(self):
        self.assertEqual(self.run_text('echo "$1,2.5"', 7), [7, 2.5])

    def test_more_cpu_time_than_the_limit(self):
        with self.assertRaisesRegex(fluid_cell.OverLimit, "time"):
            self.run_text("while :; do :; done")

    def test_more_memory_than_the_limit(self):
        with self.assertRaisesRegex(fluid_cell.OverLimit, "memory"):
            self.run_text("echo std::bad_alloc >&2; exit 2")

    def test_what_fails_is_told(self):
        with self.assertRaisesRegex(fluid_cell.Failed, "exit 2: no fabric x"):
            self.run_text("echo no fabric x >&2; exit 2")


class Estimates(unittest.TestCase):
    """Estimates of cells over the limit."""

    # 2 s and 16 s for 10 and 40 flows: exponent 3/2, so 1000 flows take 16 x 25^1.5 = 2000 s.
    def test_two_cells_give_a_power_law(self):
        series = fluid_scale.Series()
        series.times = [(10, 2.0), (40, 16.0)]
        self.assertAlmostEqual(series.seconds(1000), 2000)

    def test_one_cell_gives_a_proportion_and_none_nothing(self):
        series = fluid_scale.Series()
        self.assertEqual(series.seconds(1000), 0)
        series.times = [(10, 2.0)]
        self.assertAlmostEqual(series.seconds(1000), 200)

    # 64 ranks take 40.96 s, and 128 ranks exceed the limit of 100 s. The lower bound for 256 ranks
    # is 100 x (100 / 40.96), about 240 s, more than twice the limit, so they are not run.
    def test_no_cell_is_missing(self):
        text = '''
        if [ $1 = count ]; then echo $3; exit; fi
        if [ $2 = none ]; then echo 0,0,5000; exit; fi
        echo $3 >> ${0%/*}/tried
        if [ $3 -gt 64 ]; then kill -XCPU $$; fi
        echo $3,40.96,$((5000 + 100 * $3))
        '''
        args = types.SimpleNamespace(ranks=[64, 128, 256], only={"switch"}, repeat=1, seed=1,
                                     limit=100, memory=1.0)
        with tempfile.TemporaryDirectory() as folder:
            rows = list(fluid_scale.rows(args, program(folder, text)))
            tried = (pathlib.Path(folder) / "tried").read_text(encoding="ascii").split()
        self.assertEqual(tried, ["64", "128"] * len(fluid_cell.PATTERNS))
        self.assertEqual(len(rows), 3 * len(fluid_cell.PATTERNS))
        for row in rows:
            self.assertEqual(row["fabric"], "switch")
            if row["ranks"] == 64:
                self.assertEqual(row["status"], "measured")
                self.assertEqual(row["bytes_per_flow"], 100)
                self.assertEqual(row["flows_per_s"], 2)
            elif row["ranks"] == 128:
                self.assertEqual(row["status"], "over 100 s")
                self.assertEqual(row["estimate_s"], 100)
                self.assertEqual(row["estimate_bytes"], 18000)
            else:
                self.assertEqual(row["status"], "not run: over 100 s")
                self.assertEqual(row["estimate_s"], 240)


class Comparison(unittest.TestCase):
    """Comparison of Weir with SimGrid."""

    def row(self, lazy, full, agree=1e-6):
        """A cell where Weir takes 2 s and ends at 1; `lazy`, `full`: "seconds end" of SimGrid."""
        weir = 'if [ $1 = count ]; then echo 9; exit; fi; echo 1 > $5; echo 9,2,0'
        simgrid = f'set -- "$5" $({{ [ $6 = Lazy ] && echo {lazy} || echo {full}; }}); '
        simgrid = '[ $7 = 1e-9 ] || exit 2; ' + simgrid  # the requested precision
        simgrid += '[ $2 = over ] && kill -XCPU $$; echo $3 > $1; echo 9,$2,0'
        args = types.SimpleNamespace(repeat=3, seed=1, limit=100, memory=1.0, simgrid_flows=10,
                                     modes=fluid_compare.MODES, precision=["1e-9"],
                                     agree=agree)
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
            programs = {"weir": program(one, weir), "simgrid": program(other, simgrid)}
            return fluid_compare.measure(args, programs, pathlib.Path(one), ("a", "b", 8))

    def test_the_faster_mode_that_agrees_is_taken(self):
        row = self.row("6 1", "8 1.0000001")
        self.assertEqual((row["simgrid_mode"], row["simgrid_cpu_s"], row["ratio"]), ("Lazy", 6, 3))
        row = self.row("8 1", "6 1")
        self.assertEqual((row["simgrid_mode"], row["ratio"]), ("Full", 3))

    def test_a_mode_that_disagrees_is_told_and_not_taken(self):
        row = self.row("2 1.5", "8 1")
        self.assertEqual((row["simgrid_mode"], row["ratio"]), ("Full", 4))
        self.assertEqual(row["lazy_difference"], 0.5)
        self.assertEqual(self.row("2 1.5", "8 2")["simgrid_mode"], "disagrees")
        self.assertEqual(self.row("2 1.5", "8 2", agree=0.6)["simgrid_mode"], "Lazy")

    def test_a_mode_over_the_limit_is_told(self):
        row = self.row("6 1", "over")
        self.assertEqual((row["simgrid_mode"], row["full_cpu_s"]), ("Lazy", "over 100 s"))

    def test_larger_cells_are_weirs_alone(self):
        args = types.SimpleNamespace(repeat=1, seed=1, limit=100, memory=1.0, simgrid_flows=8,
                                     modes=fluid_compare.MODES, precision=[], agree=1e-6)
        with tempfile.TemporaryDirectory() as folder:
            weir = program(folder, 'if [ $1 = count ]; then echo 9; exit; fi; echo 9,2,0')
            row = fluid_compare.measure(args, {"weir": weir, "simgrid": weir},
                                        pathlib.Path(folder), ("a", "b", 8))
        self.assertEqual(row["weir_flows_per_s"], 4)
        self.assertNotIn("ratio", row)


class CommandLine(unittest.TestCase):
    """Invalid arguments."""

    def test_unknown_names_are_refused(self):
        for arguments, found in ((["--only", "rings"], "rings"),
                                 (["--cells", "clos:ring"], "clos:ring"),
                                 (["--limit", "0"], "'0'"),
                                 (["--modes", "Eager"], "Eager"),
                                 (["--precision", "2"], "'2'"),
                                 (["--scale", "--cells", "clos:ring:8"], "--cells")):
            done = call("bench-fluid", *arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn(found, done.stderr)


if __name__ == "__main__":
    unittest.main()
