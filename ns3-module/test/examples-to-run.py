#! /usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only

# Read by ns-3's test.py: (program and arguments, run it, run it under valgrind).
cpp_examples = [
    ("incast", "True", "True"),
    ("ecmp-collisions --servers=4 --seeds=2", "True", "True"),
    ("incast-dcqcn --senders=4 --bytes=1000000", "True", "True"),
    ("swift-target", "True", "True"),
    ("pfc-victim --bytes=1000000", "True", "True"),
    ("pfc-deadlock --bytes=1000000", "True", "True"),
    ("infiniband-credits --bytes=1000000", "True", "True"),
    ("tcp-beside-all-reduce --size=1048576", "True", "True"),
]
python_examples = []
