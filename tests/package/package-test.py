# SPDX-License-Identifier: GPL-2.0-only
"""The installed package is relocatable, and programs can be built with it. Argument: BUILD-FOLDER.

Installs to a temporary prefix, moves it and tests the command with the installed data, and the
project in program/ with find_package and with pkg-config.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
PROGRAM = pathlib.Path(__file__).resolve().parent / "program"


def called(*command, cwd=None, environment=None):
    """Standard output of a command, which must succeed."""
    done = subprocess.run([str(word) for word in command], cwd=cwd, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**os.environ, **(environment or {})})
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Package(unittest.TestCase):
    """Tests of one installation that was moved."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        called("cmake", "--install", BUILD, "--prefix", cls.folder / "first")
        cls.prefix = cls.folder / "moved" / "here"
        cls.prefix.parent.mkdir()
        (cls.folder / "first").rename(cls.prefix)
        cls.weir = cls.prefix / "bin" / "weir"

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def test_every_description_is_the_package_s_own(self):
        kinds = self.completed("weir", "list", "")
        self.assertIn("suites", kinds)
        for kind in kinds:
            listed = json.loads(called(self.weir, "list", kind, "--json"))
            there = json.loads(called(BUILD / "weir", "list", kind, "--json"))
            self.assertTrue(listed, kind)
            self.assertEqual([e["name"] for e in listed], [e["name"] for e in there])
            for entry in listed:
                self.assertTrue(entry["path"].startswith(str(self.prefix)), entry["path"])

    def test_a_run_gives_what_the_build_folder_s_gives(self):
        here, there = (json.loads(called(weir, "run", "llama-3-8b-16-h100", "--json"))
                       for weir in (self.weir, BUILD / "weir"))
        self.assertEqual(here["step_time_s"], there["step_time_s"])

    def test_a_suite_runs(self):
        called(self.weir, "validate", "korthikanti-2022")

    def test_schedules_and_pictures(self):
        data = self.prefix / "share" / "weir"
        called(self.weir, "collective", "--system", "hgx-h100", "--sizes", "1MiB", "--msccl",
               data / "msccl" / "all-pairs-all-reduce-8.xml", "--csv", self.folder / "c.csv")
        called(self.weir, "report", self.folder / "c.csv", "-o", self.folder / "c.html")
        self.assertGreater((self.folder / "c.html").stat().st_size, 1000)

    def test_the_man_page_names_every_verb(self):
        page = (self.prefix / "share" / "man" / "man1" / "weir.1").read_text()
        verbs = json.loads(called(self.weir, "reference", "options"))
        for verb in verbs[1:]:
            self.assertIn(f'.SH "WEIR {verb["verb"].upper()}"', page)
        called("bash", "-n", self.prefix / "share/bash-completion/completions/weir")

    def test_the_completion_offers_what_the_command_takes(self):
        for line, word in ((("weir", "list", ""), "switches"),
                           (("weir", "show", ""), "flow-size"),
                           (("weir", "run", "--fidelity", ""), "hybrid"),
                           (("weir", "collective", "--op", ""), "all-to-all"),
                           (("weir", "run", "--"), "--keep-partial")):
            self.assertIn(word, self.completed(*line), line)
        listed = {kind: [e["name"] for e in json.loads(called(self.weir, "list", kind, "--json"))]
                  for kind in ("switches", "sweeps")}
        self.assertEqual(self.completed("weir", "show", "switch", ""), listed["switches"])
        self.assertEqual(self.completed("weir", "sweep", ""), listed["sweeps"])
        for kind in self.completed("weir", "list", ""):
            called(self.weir, "list", kind)
        self.assertNotIn("analytical", self.completed("weir", "flows", "--fidelity", ""))

    def completed(self, *line):
        """Completions of the last word of a command line."""
        script = (f"source {self.prefix}/share/bash-completion/completions/weir; "
                  f"COMP_WORDS=({' '.join(repr(w) for w in line)}); "
                  f"COMP_CWORD={len(line) - 1}; _weir; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        return called("bash", "-c", script, environment={
            "PATH": f"{self.weir.parent}:{os.environ['PATH']}"}).split()

    def configured(self, name, text):
        """Configures a project with the CMake code `text`; returns its build folder."""
        source = self.folder / name
        source.mkdir()
        (source / "CMakeLists.txt").write_text(
            f"cmake_minimum_required(VERSION 3.24)\nproject({name} LANGUAGES CXX)\n{text}")
        called("cmake", "-S", source, "-B", source / "build", "-G", "Ninja",
               f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DCMAKE_BUILD_TYPE=Release")
        return source / "build"

    def test_find_package(self):
        build = self.folder / "found"
        called("cmake", "-S", PROGRAM, "-B", build, "-G", "Ninja",
               f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DCMAKE_BUILD_TYPE=Release")
        called("cmake", "--build", build)
        printed = called(build / "oversubscription", cwd=PROGRAM)
        self.assertEqual(printed, (PROGRAM / "expected.txt").read_text())

    def test_components(self):
        self.configured("some", "find_package(weir REQUIRED COMPONENTS scenario ns3-devices ns3 "
                                "compute collectives fabric)\n")
        with self.assertRaisesRegex(AssertionError, "weir"):
            self.configured("missing", "find_package(weir REQUIRED COMPONENTS other)\n")

    def pkg_config(self, source, program):
        """Compiles a program as in the guide; returns the program."""
        (path,) = self.prefix.glob("lib/**/pkgconfig")
        called("bash", "-c",
               f"g++ -std=c++17 -O1 {source} $(pkg-config --cflags --libs weir) -o {program}",
               environment={"PKG_CONFIG_PATH": str(path)})
        return program

    def test_pkg_config(self):
        program = self.pkg_config(PROGRAM / "oversubscription.cc", self.folder / "by-pkg-config")
        self.assertEqual(called(program, cwd=PROGRAM), (PROGRAM / "expected.txt").read_text())

    def test_a_program_knows_the_types_that_it_does_not_name(self):
        source = self.folder / "types.cc"
        source.write_text('#include "ns3/command-line.h"\n'
                          '#include "ns3/fabric-net-device-helper.h"\n'
                          "int main(int argc, char* argv[])\n"
                          "{ ns3::FabricNetDeviceHelper devices;\n"
                          "  ns3::CommandLine cmd; cmd.Parse(argc, argv); }\n")
        program = self.pkg_config(source, self.folder / "types")
        printed = called(program, "--PrintGroup=Weir")
        described = json.loads(called(self.weir, "reference", "attributes"))
        for entry in described:
            self.assertIn(entry["type"], printed)
        for name in ("CollectiveJob", "TrainingJob", "RunRecorder", "FabricNetDevice"):
            self.assertIn(f"ns3::{name}", printed)


if __name__ == "__main__":
    unittest.main()
