# SPDX-License-Identifier: GPL-2.0-only
"""The core libraries need C++ only: no ns-3, YAML or HDF5 in sources or in CMake."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Folders of each library from which its sources may include.
FLOORS = {"ns3-module/fabric": ("fabric",),
          "collectives": ("fabric", "collectives"),
          "compute-model": ("fabric", "collectives", "compute-model")}
PACKAGES = ("yaml-cpp", "Hdf5Serial", "nlohmann_json", "CLI11", "pugixml", "ZLIB", "Ns3")


class Plain(unittest.TestCase):
    """Builds without ns-3 and readers."""

    def test_floors_include_downwards_alone(self):
        for folder, allowed in FLOORS.items():
            paths = list((ROOT / folder).rglob("*.[ch]*"))
            self.assertGreater(len(paths), 50, folder)
            for path in paths:
                for quoted, angled in re.findall(r'^#include (?:"([^"]+)"|<([^>]+)>)',
                                                 path.read_text(), re.M):
                    if quoted:
                        self.assertIn(quoted.split("/")[0], allowed, f"{path}: {quoted}")
                    # The only exception is POSIX mman.h, for huge pages.
                    self.assertNotRegex(
                        angled, r"ns3/|yaml|hdf5|nlohmann|pugi|CLI|^(?!sys/mman).*\.h$",
                        f"{path}: {angled}")

    def test_libraries_are_configured_without_packages(self):
        with tempfile.TemporaryDirectory() as build:
            hidden = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in PACKAGES]
            subprocess.run(["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DWEIR_WITH_NS3=OFF",
                            "-DWEIR_WITH_READERS=OFF", "-DWEIR_BUILD_TESTS=OFF", *hidden],
                           check=True, stdout=subprocess.DEVNULL)
            targets = subprocess.run(["ninja", "-C", build, "-t", "targets", "all"], check=True,
                                     stdout=subprocess.PIPE, text=True).stdout
            self.assertIn("libweir-compute.a", targets)
            self.assertNotIn("libweir-scenario.a", targets)

    def test_what_names_ns3_compiles_without_it(self):
        with tempfile.TemporaryDirectory() as build:
            subprocess.run(["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DWEIR_WITH_NS3=OFF",
                            "-DWEIR_BUILD_TESTS=OFF", "-DWEIR_UNITY_BUILD=OFF",
                            "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"],
                           check=True, stdout=subprocess.DEVNULL)
            commands = json.loads((pathlib.Path(build) / "compile_commands.json").read_text())
            checked = 0
            for each in commands:
                source = pathlib.Path(each["file"])
                if ROOT not in source.parents or not re.search(
                        r'WEIR_WITH_NS3|#include [<"](ns3|scenarios/job)/', source.read_text()):
                    continue
                subprocess.run(re.sub(r" -o \S+", " -fsyntax-only", each["command"]), shell=True,
                               check=True, cwd=build)
                checked += 1
        self.assertGreaterEqual(checked, 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
