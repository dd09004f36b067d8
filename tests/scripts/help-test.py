# SPDX-License-Identifier: GPL-2.0-only
"""Every script says what it does and how it is called, and does nothing then."""
import os
import subprocess
import unittest

from script_module import SCRIPTS


class Help(unittest.TestCase):
    """--help of every script."""

    def test_every_script_has_help(self):
        scripts = [s for s in sorted(SCRIPTS.iterdir()) if s.is_file() and os.access(s, os.X_OK)]
        self.assertIn(SCRIPTS / "make-flows", scripts)
        for script in scripts:
            with self.subTest(script=script.name):
                done = subprocess.run([script, "--help"], stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True, timeout=60, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(done.stdout.lower().startswith("usage: "), done.stdout[:80])
                self.assertIn(script.name, done.stdout)


if __name__ == "__main__":
    unittest.main()
