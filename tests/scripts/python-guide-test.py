# SPDX-License-Identifier: GPL-2.0-only
"""The examples of docs/guide/python.md print the output shown there. Argument: WEIR."""
import doctest
import os
import pathlib
import sys
import tempfile

from weir_results import WEIR, call

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "guide" / "python.md"


def main():
    """Runs the page's commands and then its Python examples in an empty folder."""
    text = PAGE.read_text(encoding="utf-8")
    commands = [line[len("$ weir "):].split() for line in text.splitlines()
                if line.startswith("$ weir ")]
    assert commands, WEIR
    with tempfile.TemporaryDirectory() as folder:
        for command in commands:
            done = call(*command, folder=folder)
            if done.returncode != 0:
                sys.exit(done.stderr)
        os.chdir(folder)
        # Code fences are removed because doctest would read them as expected output.
        test = doctest.DocTestParser().get_doctest(text.replace("```", ""), {}, PAGE.name,
                                                   str(PAGE), 0)
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        outcome = runner.run(test)
        os.chdir("/")
    sys.exit(1 if outcome.failed or not outcome.attempted else 0)


main()
