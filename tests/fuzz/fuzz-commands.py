#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Mutated command lines and input files for the built `weir`: fuzz-commands.py WEIR [options].

A command must end with exit code 0, or with 2 and one line on standard error that begins with
"weir: " and states what was found and what was expected. Exit code 1 is allowed for a failed check
of `weir validate`. A command that takes longer than --seconds gets a SIGINT and must then end with
130 and one line. Errors are: death by a signal, control characters in the output, more memory than
MAX_KIB, a changed input, and files left behind by a failed command. Equal seeds give equal
commands.
"""
import argparse
import os
import pathlib
import random
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import time

MAX_KIB = 2 * 1024 * 1024  # per command; its address space is limited to four times this
GRACE_S = 10               # to end after a SIGINT, on a busy machine
TOKENS = ["0", "-1", "1", "2", "3", "7", "4096", "65536", "2147483648", "9223372036854775807",
          "18446744073709551616", "1e308", "1e-320", "nan", "inf", "-0", "0x7f", "0.5", "", " ", "~",
          "null", "true", "[]", "{}", "[1, 2]", "{a: 1}", "8B", "1MiB", "1e9B", "3ms", "0s", "-1us",
          "400Gbps", "0Gbps", "50%", "./", "/dev/null", "/nowhere/a.yaml", "small.yaml", "out.h5",
          "leaf0->spine0", "\x1b[2J", "é", "\n", "*", "--", "auto", "all"]
FILES = {
    "small.yaml": """title: two jobs and what happens to them
seed: 3
system: {base: hgx-h100, nodes: 4, fabric: {kind: leaf-spine, leafRadix: 32, oversubscription: 2}}
jobs:
  - name: gpt
    model: {base: gpt-1.7b, layers: 2}
    parallel: {tensor: 8, data: 2, globalBatch: 4}
    steps: 2
  - name: noise
    collective: {op: all-to-all, bytes: 1MiB, calls: 3, every: 1ms}
    placement: {nodes: [2, 3]}
network: {fidelity: stream}
events:
  - {kind: link-down, at: 1ms, from: leaf0, to: spine0}
  - {kind: slow-gpu, gpu: node0/gpu1, factor: 1.5}
output: {file: small.h5, timeline: true, linkSeries: 1ms, ranks: [0, 3]}
""",
    "traffic.yaml": """title: traffic
seed: 3
system: {base: hgx-h100, nodes: 4, fabric: {kind: rail-optimized, leafRadix: 16, routing: adaptive}}
jobs:
  - {name: a, traffic: {pattern: poisson, sizes: websearch, load: 0.1, duration: 100us}}
  - {name: b, traffic: {pattern: incast, senders: 9, bytes: 10kB, every: 20us, times: 3}, start: 5us}
network: {fidelity: flow}
events:
  - {kind: link-flap, at: 1us, from: leaf0, to: spine0, down: 10us, up: 20us, times: 3}
  - {kind: random-failures, links: switch-to-switch, meanTimeToFailure: 1ms, meanTimeToRepair: 1ms}
""",
    "packets.yaml": """title: packets
system: {base: hgx-h100, nodes: 2}
jobs:
  - {name: a, collective: {op: all-gather, bytes: 64KiB, calls: 2}}
network: {fidelity: packet, congestionControl: {kind: dcqcn}, switch: {flowControl: pfc}}
output: {portSeries: 10us, file: packets.h5}
""",
    "star.txt": "6 1 5\n5\n" + "".join(f"{host} 5 100Gbps 1us 0\n" for host in range(5)),
    "flows.csv": "src,dst,bytes,start_s\n0,1,1000,0\n1,2,5000,1e-5\n3,1,100000,2e-5\n",
    "drawn.yaml": "seed: 3\ntraffic:\n  - {pattern: permutation, bytes: 10kB, every: 10us, times: 3}\n",
    "net.yaml": """packets: {flows: [0-1], sources: [3], below: 2kB, links: ["host0->*"]}
coupling: {window: 10us}
events:
  - {kind: link-down, at: 1us, from: host1, to: switch5}
  - {kind: link-up, at: 9us, from: host1, to: switch5}
  - {kind: lossy-link, at: 0s, from: host3, to: switch5, loss: 0.1}
""",
    "graph.yaml": """devices:
  - {name: a, kind: host}
  - {name: b, kind: host}
""",
}
COMMANDS = [
    "run small.yaml --quiet", "run small.yaml --json --set output={}",
    "run small.yaml --fidelity analytical -o out.h5 --timeline out.json",
    "run traffic.yaml --json", "run packets.yaml --quiet",
    "run gpt-22b-8-a100-full --set jobs.0.steps=1 --quiet",
    "collective --system hgx-h100 --nodes 2 --op all-reduce --sizes 8B:1MiB:x8 --csv out.csv",
    "collective --system dgx-a100 --nodes 2 --op all-to-all --sizes 1KiB,1MiB --fidelity flow "
    "--json -o out.h5 --link-series 10us",
    "collective --system hgx-h100 --nodes 2 --op broadcast --sizes 64KiB --fidelity packet "
    "--congestion-control dcqcn -o out.h5 --port-series 10us",
    "collective --system oci-a100 --nodes 4 --op all-gather --sizes 1MiB --algorithm ring "
    "--protocol ll128 --channels 4 --explain --timeline out.json",
    "flows --topology star.txt --flows flows.csv --csv out.csv",
    "flows --topology star.txt --flows drawn.yaml --fidelity packet --congestion-control dctcp "
    "--json", "flows --topology star.txt --flows flows.csv --fidelity hybrid --network net.yaml",
    "flows --topology hgx-h100 --flows flows.csv --set sharing.tolerance=1e-3 -o out.h5",
    "topology show hgx-h100 --nodes 2", "list systems --json", "show system hgx-h100",
    "show model gpt-22b", "show run llama-3-8b-16-h100", "show gpu h100-sxm",
    "kernel --help", "graph --help", "validate --help", "calibrate --help", "report --help",
]
SANITIZED = len(sys.argv) > 1 and os.path.isfile(sys.argv[1]) and \
    b"__asan_init" in pathlib.Path(sys.argv[1]).read_bytes()
NUMBER = re.compile(r"(?<![\w.])\d[\d.e]*\w*")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def options_of(weir):
    """All verbs and the options of each, from --help."""
    def told(*arguments):
        return subprocess.run([weir, *arguments, "--help"], stdout=subprocess.PIPE, text=True,
                              check=True).stdout
    verbs = re.findall(r"^  ([a-z]+) {2,}", told(), re.MULTILINE)
    return verbs, {verb: re.findall(r"(?<![\w-])--[a-z][a-z-]+", told(verb)) for verb in verbs}


class Mutator:
    """One random command with its files, determined by the seed and the number of the command."""

    def __init__(self, seed, number, verbs, options):
        self.draws = random.Random(f"{seed} {number}")
        self.verbs, self.options = verbs, options

    def make(self):
        """The arguments, and the texts of the files by name."""
        arguments = shlex.split(self.draws.choice(COMMANDS))
        files = dict(FILES)
        named = [name for name in files if name in arguments]
        for _ in range(self.draws.randint(1, 3)):
            if named and self.draws.random() < 0.6:
                name = self.draws.choice(named)
                files[name] = self.text(files[name])
            else:
                arguments = self.line(arguments)
        return [one.replace("\0", "") for one in arguments], files

    def line(self, arguments):
        """The command line with one mutation."""
        at = self.draws.randrange(len(arguments))
        verb = arguments[0] if arguments[0] in self.options else self.draws.choice(self.verbs)
        kind = self.draws.randrange(6)
        if kind == 0 and len(arguments) > 1:
            return arguments[:at] + arguments[at + 1:]
        if kind == 1:
            return arguments[:at] + [arguments[at]] + arguments[at:]
        if kind == 2 and self.options[verb]:
            option = self.draws.choice(self.options[verb])
            return arguments + [option] + [self.draws.choice(TOKENS)] * self.draws.randrange(2)
        if kind == 3:
            keys = re.findall(r"(\w+): ", "".join(FILES.values()))
            path = ".".join(self.draws.choice([*keys, "0", "1", "network", "system", "jobs"])
                            for _ in range(self.draws.randint(1, 4)))
            return arguments + ["--set", f"{path}={self.draws.choice(TOKENS)}"]
        if kind == 4:
            return arguments[:at] + [self.changed(arguments[at])] + arguments[at + 1:]
        return arguments[:at] + [self.draws.choice(TOKENS)] + arguments[at + 1:]

    def changed(self, text):
        """The text with a number replaced or a token inserted at a random position."""
        numbers = list(NUMBER.finditer(text))
        if numbers and self.draws.random() < 0.7:
            begin, end = self.draws.choice(numbers).span()
        else:
            begin = end = self.draws.randrange(len(text) + 1)
        return text[:begin] + self.draws.choice(TOKENS) + text[end:]

    def text(self, text):
        """The file with one mutation of a number, value, token or line."""
        lines = text.splitlines(keepends=True)
        at = self.draws.randrange(len(lines)) if lines else 0
        kind = self.draws.randrange(6)
        if kind == 0 or not lines:
            return self.changed(text)
        if kind == 1:
            return "".join(lines[:at] + lines[at + 1:])
        if kind == 2:
            return "".join(lines[:at] + [lines[at]] + lines[at:])
        if kind == 3:
            line = lines.pop(at)
            lines.insert(self.draws.randrange(len(lines) + 1), line)
            return "".join(lines)
        values = list(re.finditer(r"(?<=: )[^,{}\n]+", text))
        if not values:
            return self.changed(text)
        begin, end = self.draws.choice(values).span()
        other = self.draws.choice(values).group() if kind == 4 else self.draws.choice(TOKENS)
        return text[:begin] + other + text[end:]


def limit():
    """Runs before a command: disables core dumps and limits its address space."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not SANITIZED:  # AddressSanitizer maps more than the memory
        resource.setrlimit(resource.RLIMIT_AS, (4096 * MAX_KIB, 4096 * MAX_KIB))


def judge(weir, arguments, files, seconds):
    """Runs a command; returns how it violated the contract, or ""."""
    with tempfile.TemporaryDirectory(prefix="weir-fuzz-") as place, \
            tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error:
        folder = pathlib.Path(place)
        for name, text in files.items():
            (folder / name).write_bytes(text.encode("utf-8", "surrogateescape"))
        process = subprocess.Popen([weir, *arguments], cwd=folder, stdin=subprocess.DEVNULL,
                                   stdout=out, stderr=error, preexec_fn=limit)
        interrupted, deadline, usage = False, time.monotonic() + seconds, None
        while usage is None:
            done, status, used = os.wait4(process.pid, os.WNOHANG)
            if done:
                usage = used
            elif time.monotonic() > deadline:
                if interrupted:
                    process.kill()
                    os.wait4(process.pid, 0)
                    process.returncode = -9
                    return f"it continues {GRACE_S} s after a SIGINT"
                process.send_signal(signal.SIGINT)
                interrupted, deadline = True, time.monotonic() + GRACE_S
            else:
                time.sleep(0.005)
        code = process.returncode = os.waitstatus_to_exitcode(status)
        for stream in (out, error):
            stream.seek(0)
        printed, said = out.read().decode("utf-8", "replace"), error.read().decode("utf-8", "replace")
        left = {path.name: path for path in folder.rglob("*")}
        return complaint(arguments, files, code, interrupted, printed, said, left,
                         usage.ru_maxrss)


def complaint(arguments, files, code, interrupted, printed, said, left, kib):
    """Violation in the exit code, output, remaining files or memory of a command, or ""."""
    failed = code != 0 and not (code == 1 and "validate" in arguments)
    if code not in (0, 2, 130 if interrupted else 0) and failed:
        return f"exit code {code}: {said[:300]!r}"
    if failed and (not said.startswith("weir: ") or said.count("\n") != 1):
        return f"exit code {code} without one line that begins with 'weir: ': {said[:600]!r}"
    if code == 2 and not re.search("found.*expected", said):
        return f"a refusal that does not say what was found and what expected: {said[:300]!r}"
    if failed and code == 2 and printed:
        return f"a refusal after something was printed: {printed[:200]!r}"
    if CONTROL.search(printed + said):
        return f"control characters: {CONTROL.search(printed + said).group()!r}"
    if kib > MAX_KIB:
        return f"{kib} KiB of memory"
    for name, text in files.items():
        if name not in left:
            return f"input {name} is gone"
        # An output may replace a file that is not an input of the command.
        if name in arguments and failed and left[name].read_bytes() != text.encode():
            return f"input {name} has changed"
    more = sorted(set(left) - set(files))
    if failed and more:
        return f"files left behind: {', '.join(more)}"
    partial = [name for name in more if "partial" in name]
    return f"files half written: {', '.join(partial)}" if partial else ""


def main():
    """Runs commands until the first violation (all commands with --all)."""
    sys.stdout.reconfigure(line_buffering=True)
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("weir", help="the built command")
    parser.add_argument("--inputs", type=int, default=200, help="how many commands")
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=10, help="until a command gets a SIGINT")
    parser.add_argument("--all", action="store_true", help="continue after one that is wrong")
    options = parser.parse_args()
    weir = str(pathlib.Path(options.weir).resolve())
    verbs, known = options_of(weir)
    wrong = 0
    for number in range(options.first, options.first + options.inputs):
        arguments, files = Mutator(options.seed, number, verbs, known).make()
        found = judge(weir, arguments, files, options.seconds)
        if found:
            wrong += 1
            print(f"command {number} of seed {options.seed}: weir {shlex.join(arguments)}: found "
                  f"{found}")
            for name, text in files.items():
                if text != FILES[name]:
                    print(f"--- {name}\n{text}")
            if not options.all:
                return 1
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{options.inputs} commands of seed {options.seed}, {wrong} wrong, "
          f"{usage.ru_utime + usage.ru_stime:.0f} s of CPU time")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
