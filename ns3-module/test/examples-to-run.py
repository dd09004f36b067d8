#! /usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only

# Read by ns-3's test.py: (program and arguments, run it, run it under valgrind).
cpp_examples = [
    ("incast", "True", "True"),
    ("ecmp-collisions --servers=4 --seeds=2", "True", "True"),
]
python_examples = []
