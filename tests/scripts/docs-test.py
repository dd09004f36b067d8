# SPDX-License-Identifier: GPL-2.0-only
"""The documentation builds without warnings, and its reference is complete.

Arguments: WEIR FOLDER (build folder of the pages).
"""
import json
import pathlib
import re
import shlex
import subprocess
import sys
import unittest

import yaml

FOLDER = pathlib.Path(sys.argv.pop()).resolve()
WEIR = pathlib.Path(sys.argv.pop()).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]


def reference(what):
    """Output of `weir reference` for keys, options or attributes."""
    return json.loads(subprocess.run([WEIR, "reference", what], check=True, text=True,
                                     stdout=subprocess.PIPE).stdout)


def keys_of(value):
    """All keys of a YAML value at any depth."""
    if isinstance(value, dict):
        return set(map(str, value)).union(*(keys_of(v) for v in value.values()))
    return set().union(*(keys_of(v) for v in value)) if isinstance(value, list) else set()


class Documents(unittest.TestCase):
    """Pages and reference of the documentation."""

    def test_links_resolve_and_pages_have_the_reference(self):
        subprocess.run([ROOT / "scripts" / "docs", "--weir", WEIR, "--output", FOLDER], check=True)
        page = (FOLDER / "html" / "reference" / "keys.html").read_text()
        for each in reference("keys"):
            for key in each["keys"]:
                self.assertIn(f">{key['key']}<", page)

    def test_files_that_the_readme_names_exist(self):
        text = (ROOT / "README.md").read_text()
        named = set(re.findall(r"\]\(([^)#:]+)\)", text)) | set(re.findall(r"\./(scripts/\w+)", text))
        self.assertGreater(len(named), 15)
        for name in sorted(named):
            self.assertTrue((ROOT / name).exists(), name)
        self.assertLess(len(text.splitlines()), 130)

    def test_the_readme_s_scenario_is_accepted(self):
        (scenario,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
        path = FOLDER / "readme.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(scenario)
        subprocess.run([WEIR, "show", "run", path], check=True, stdout=subprocess.DEVNULL)

    def test_files_that_the_pages_name_exist(self):
        folders = "|".join(path.name for path in ROOT.iterdir() if path.is_dir())
        named = {name for page in (ROOT / "docs").rglob("*.md")
                 for name in re.findall(rf"`((?:{folders})/[\w./-]+)`", page.read_text())}
        self.assertGreater(len(named), 60)
        # Files that a reader of the walks makes, and groups of result files.
        made = re.compile(r"NAME|SUITE|/hypercube.h$|/aimd.h$|^build/|^validation/bound/bounds$")
        for name in sorted(named):
            self.assertTrue(made.search(name) or (ROOT / name).exists()
                            or list(ROOT.glob(name + ".*")), name)

    def test_files_of_the_developer_guide_are_accepted(self):
        text = (ROOT / "docs" / "developer" / "extending.md").read_text()
        files = re.findall(r"```yaml\n(.*?)```", text, re.S)
        kinds = ("model", "system", "suite", "gpu", "architecture", "host", "transport",
                 "framework")  # in page order
        self.assertEqual(len(files), len(kinds))
        FOLDER.mkdir(parents=True, exist_ok=True)
        (table,) = re.findall(r"```\n(case,.*?)```", text, re.S)
        (FOLDER / "steps.csv").write_text(table)
        for kind, file in zip(kinds, files):
            path = FOLDER / f"{kind}-of-the-guide.yaml"
            path.write_text(file)
            subprocess.run([WEIR, "show", kind, path], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([WEIR, "validate", FOLDER / "suite-of-the-guide.yaml"], check=True,
                       stdout=subprocess.DEVNULL)

    def test_the_guide_shows_the_output_of_its_commands(self):
        run = "run gpt-175b-96-h800 --set output={}"
        # Of the search only plans that take little time.
        search = "search gpt-175b-96-h800 --gpus 96 " + " ".join(
            f"--set jobs.0.parallel.{value}"
            for value in ("tensor=4", "microBatch=1", "recomputation=none"))
        for page, begin, command, part in (
                ("first-run", "  step time gpt", run, "busiest|node11|stage|step|^0"),
                ("collectives", "$ weir collective", None, ""),
                ("training", "$ weir search", search, "^4 ")):
            text = (ROOT / "docs" / "guide" / f"{page}.md").read_text()
            block = text[text.index(begin):].partition("```")[0].splitlines()
            words = shlex.split(command or block[0][len("$ weir "):])
            printed = subprocess.run([WEIR, *words], check=True, text=True,
                                     stdout=subprocess.PIPE).stdout
            printed = {" ".join(line.split()) for line in printed.splitlines()}
            shown = [" ".join(line.split()) for line in block if not line.startswith("$")]
            shown = [line for line in shown if re.search(part, line)]
            self.assertGreater(len(shown), 2)
            for line in shown:
                self.assertIn(line, printed | {""}, page)

    def test_the_ns_3_walk_shows_its_program(self):
        text = (ROOT / "docs" / "guide" / "ns3-programs.md").read_text()
        section = text[text.index("## Attributes and trace sources"):]
        shown = re.findall(r"```cpp\n(.*?)```", section, re.S)
        program = (ROOT / "ns3-module" / "examples" / "swift-target.cc").read_text()
        self.assertEqual(len(shown), 3)
        for code in shown:
            self.assertIn(code, program)

    def test_every_name_has_help(self):
        helps = {what: [] for what in ("keys", "options", "attributes")}
        for each in reference("keys"):
            for key in each["keys"]:
                helps["keys"].append((f"{each['map']}: {key['key']}", key["help"]))
        for verb in reference("options"):
            for option in verb["options"]:
                helps["options"].append((f"{verb['verb']}: {option['names']}", option["help"]))
        for each in reference("attributes"):
            for member in each["attributes"] + each["traceSources"]:
                helps["attributes"].append((f"{each['type']}: {member['name']}", member["help"]))
        for what, named in helps.items():
            self.assertGreater(len(named), 50, what)
            self.assertEqual([name for name, text in named if not text.strip()], [])

    def test_readers_accept_no_key_beside_the_documented_ones(self):
        """Keys listed in a call of CheckKeys would be missing in the reference."""
        calls = [f"{path.name}: {line.strip()}" for path in (ROOT / "scenarios").rglob("*.cc")
                 for line in path.read_text().splitlines() if re.search(r"[.>]CheckKeys\(", line)]
        self.assertGreater(len(calls), 10)
        self.assertEqual([call for call in calls if "CheckKeys({" in call], [])

    def test_every_key_of_the_catalog_is_documented(self):
        documented = {part for each in reference("keys") for key in each["keys"]
                      for part in (key["key"], *key["key"].split("."))}
        # Names of kernels and of varied keys are not keys of a fixed set.
        listed = list((ROOT / "scenarios").glob("*/*.yaml"))
        self.assertGreater(len(listed), 100)
        missing = {}
        for path in listed:
            value = yaml.safe_load(path.read_text())
            if path.parent.name == "gpus" and isinstance(value.get("kernels"), dict):
                value["kernels"].pop("memory", None)
                value["kernels"].get("measured", {}).pop("memory", None)
            if path.parent.name == "sweeps":
                value.pop("vary")  # keys of the command, and names
            for key in keys_of(value) - documented:
                missing.setdefault(key, path.name)
        self.assertEqual(missing, {})


if __name__ == "__main__":
    unittest.main()
