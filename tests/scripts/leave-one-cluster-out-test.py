# SPDX-License-Identifier: GPL-2.0-only
"""scripts/leave-one-cluster-out excludes all values measured on a cluster, and the remaining values
are those that a user of an unknown machine gets."""
import csv
import pathlib
import subprocess
import sys
import tempfile
import unittest

import yaml

from script_module import SCRIPTS, load

WEIR = sys.argv.pop(1)
loo = load("leave-one-cluster-out")
ROOT = SCRIPTS.parent
RUNS = list(loo.read_runs(str(ROOT)))


def times(system, *options):
    """Times of all-reduces from 8 B to 64 MiB on two nodes, in microseconds."""
    with tempfile.NamedTemporaryFile(suffix=".csv") as table:
        subprocess.run([WEIR, "collective", "--system", str(system), "--nodes", "2", "--op",
                        "all-reduce", "--sizes", "8B:64MiB:x8", "--fidelity", "analytical",
                        "--csv", table.name, *options],
                       check=True, stdout=subprocess.DEVNULL)
        with open(table.name) as rows:
            return [row["time_us"] for row in csv.DictReader(rows)]


class LeftOut(unittest.TestCase):
    def test_whatever_is_from_a_suite_is_replaced(self):
        self.assertEqual(loo.check(WEIR, RUNS), [])

    def test_a_figure_that_is_forgotten_is_told(self):
        costs = loo.OTHERS["nccl-alps-2025"]["alps-gh200"]["costs"]
        forgotten = costs.pop("messageFetch")
        try:
            self.assertEqual(loo.check(WEIR, [r for r in RUNS if r[0] == "nccl-alps-2025"]),
                             [("nccl-alps-2025", "alps-gh200", "messageFetch")])
        finally:
            costs["messageFetch"] = forgotten


class UnknownMachine(unittest.TestCase):
    """Default costs depend on the hardware only, not on the name or the file of the catalog."""

    def test_without_costs_it_has_those_of_its_kind(self):
        system = yaml.safe_load((ROOT / "scenarios/systems/alps-gh200.yaml").read_text())
        own = system["node"].pop("costs")
        system["name"] = "mine"
        with tempfile.TemporaryDirectory() as folder:
            mine = pathlib.Path(folder) / "mine.yaml"
            mine.write_text(yaml.safe_dump(system))
            shown = subprocess.run([WEIR, "show", "system", str(mine)], check=True,
                                   stdout=subprocess.PIPE, text=True).stdout.splitlines()
            kinds = {line.split()[0]: line.split()[1:3] for line in shown if line.strip()}
            # The catalog's system with its own costs replaced by the defaults of its kind.
            typical = {key: {"value": "".join(kinds[key]), "source": "of its kind"} for key in own}
            over = pathlib.Path(folder) / "over.yaml"
            over.write_text(yaml.safe_dump({"base": "alps-gh200", "name": "over",
                                            "node": {"costs": typical}}))
            self.assertEqual(times(mine), times(over))
            self.assertNotEqual(times(mine), times("alps-gh200"))


if __name__ == "__main__":
    unittest.main()
