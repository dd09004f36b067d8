# SPDX-License-Identifier: GPL-2.0-only
"""Every script prints its usage, and refuses invalid calls without any effect."""
import os
import subprocess
import unittest

from script_module import SCRIPTS


# Required arguments of scripts, given beside an unknown option.
REFUSED = {"install-packages": ["build"], "make-flows": ["--flows", "1", "--hosts", "2"]}


def called(script, *arguments):
    """The finished process of the script."""
    return subprocess.run([script, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=60, check=False)


class Help(unittest.TestCase):
    """--help of every script, and its refusal of unknown options."""

    def setUp(self):
        self.scripts = [s for s in sorted(SCRIPTS.iterdir())
                        if s.is_file() and os.access(s, os.X_OK)]
        self.assertIn(SCRIPTS / "make-flows", self.scripts)

    def test_every_script_has_help(self):
        for script in self.scripts:
            with self.subTest(script=script.name):
                done = called(script, "--help")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(done.stdout.lower().startswith("usage: "), done.stdout[:80])
                self.assertIn(script.name, done.stdout)

    def test_every_script_refuses_unknown_options(self):
        for script in self.scripts:
            with self.subTest(script=script.name):
                done = called(script, "--no-such-option", *REFUSED.get(script.name, []))
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertIn("--no-such-option", done.stderr)
                self.assertIn(script.name + ":", done.stderr)

    def test_options_want_their_values(self):
        for name, option in [("build", "--target"), ("check-contrib", "--ns3"),
                             ("check-contrib", "--work"), ("make-fat-tree", "--k")]:
            with self.subTest(script=name, option=option):
                done = called(SCRIPTS / name, option)
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertIn(option, done.stderr)


if __name__ == "__main__":
    unittest.main()
