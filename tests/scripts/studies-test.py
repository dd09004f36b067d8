# SPDX-License-Identifier: GPL-2.0-only
"""The studies of the manual print the output shown there.

studies-test.py WEIR [--accept]: runs every command of ns3-module/doc/studies.rst ("$ ..." in a
literal block) in an empty folder and compares every line of output with the page. --accept replaces
the output in the page.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "ns3-module" / "doc" / "studies.rst"
INDENT = "  "
PROMPT = INDENT + "$ "


def parts(page):
    """The page as pairs (command, its output lines) and (None, [other line])."""
    found = []
    for line in page.splitlines():
        isOutput = line.startswith(INDENT) and found and found[-1][0] is not None
        if line.startswith(PROMPT):
            found.append((line[len(PROMPT):], []))
        elif isOutput:
            found[-1][1].append(line)
        else:
            found.append((None, [line]))
    return found


def run(command, folder, weir):
    """Output of the command, indented."""
    path = os.pathsep.join([str(pathlib.Path(weir).parent), str(ROOT / "scripts"),
                            str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder,
                          env={**os.environ, "PATH": path}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"$ {command}\nended with {done.returncode}: {done.stdout}")
    return [INDENT + line.rstrip() for line in done.stdout.splitlines()]


def main(weir, accept):
    """Runs the commands of the page; returns the exit code."""
    page, wrong = [], 0
    assert PROMPT in PAGE.read_text(encoding="utf-8"), f"{PAGE} has no commands"
    with tempfile.TemporaryDirectory() as folder:
        for command, lines in parts(PAGE.read_text(encoding="utf-8")):
            if command is None:
                page += lines
                continue
            printed = run(command, folder, weir)
            page += [PROMPT + command] + printed
            if printed != lines:
                wrong += 1
                print(f"$ {command}\nprinted\n" + "\n".join(printed) + "\nbut the page says\n" +
                      "\n".join(lines) + "\n")
    if accept:
        PAGE.write_text("\n".join(page) + "\n", encoding="utf-8")
        return 0
    if wrong:
        print(f"If the new output is right: python3 {__file__} {weir} --accept, and read whether "
              f"what {PAGE.name} concludes still holds.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), sys.argv[2:] == ["--accept"]))
