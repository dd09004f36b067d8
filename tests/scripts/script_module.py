# SPDX-License-Identifier: GPL-2.0-only
"""Loads scripts as Python modules; they are in scripts/ and have no suffix .py."""
import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys

SCRIPTS = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts"
sys.dont_write_bytecode = True


def load(name):
    """The module of a script, without running its main."""
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(SCRIPTS / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def call(name, *arguments):
    """The finished process of a script with arguments."""
    return subprocess.run([sys.executable, str(SCRIPTS / name), *map(str, arguments)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
