# SPDX-License-Identifier: GPL-2.0-only
"""One cell of the fluid benchmark: a program in a process of its own, within limits."""
import resource
import signal
import subprocess

FABRICS = ["switch", "clos", "rail", "fat-tree"]
PATTERNS = ["ring", "tree", "all-to-all", "all-to-all-random", "permutation", "incast", "mix"]


class OverLimit(Exception):
    """The program took more than it was given: "time" or "memory"."""


class Failed(Exception):
    """The program did not work; what it said."""


def run(program, arguments, seconds, gib):
    """The program's one line of figures as numbers: at most so much CPU time and memory."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (int(gib * 2**30),) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    done = subprocess.run([str(program), *(str(a) for a in arguments)], preexec_fn=limit,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        raise OverLimit("time")
    if done.returncode != 0 and "bad_alloc" in done.stderr:
        raise OverLimit("memory")
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, (program, *arguments)))}: exit {done.returncode}: "
                     f"{done.stderr.strip()[-500:]}")
    return [float(field) for field in done.stdout.strip().split(",")]


def flows_of(program, pattern, ranks):
    """How many flows a pattern has."""
    return int(run(program, ["count", pattern, ranks], 60, 64)[0])
