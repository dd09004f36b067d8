# SPDX-License-Identifier: GPL-2.0-only
"""Names the modules that the package needs and this interpreter lacks, one a line.

`weir report` runs this file by itself to choose an interpreter, so it imports
nothing of the package.
"""
import importlib.util
import sys

MODULES = ["h5py", "matplotlib", "numpy", "pandas"]


def missing():
    """The modules that are not installed."""
    return [name for name in MODULES if importlib.util.find_spec(name) is None]


if __name__ == "__main__":
    print("\n".join(missing()))
    sys.exit(1 if missing() else 0)
