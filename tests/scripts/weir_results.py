# SPDX-License-Identifier: GPL-2.0-only
"""Sample results for tests of the Python package, each made once by the command under test."""
import functools
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy

HERE = pathlib.Path(__file__).resolve().parent
WEIR = str(pathlib.Path(sys.argv.pop(1)).resolve())  # unittest parses the others
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent.parent / "scripts" / "python"))
FOLDER = tempfile.TemporaryDirectory()


def call(*arguments, folder=FOLDER.name, **further):
    """The finished process of weir with arguments."""
    return subprocess.run([WEIR, *map(str, arguments)], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False, **further)


def made(name, *arguments):
    """Runs weir; returns the path of the file that it wrote."""
    done = call(*arguments)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return pathlib.Path(FOLDER.name) / name


@functools.cache
def pipeline():
    """One pipeline-parallel job of two steps, with link series."""
    return made("pipeline.h5", "run", "gpt-7.5b-16-h100-zb-2p", "--quiet", "--set",
                "output.file=pipeline.h5", "--set", "output.linkSeries=1ms")


@functools.cache
def two_jobs():
    """Two jobs of one step that share links, without link series."""
    return made("two-jobs.h5", "run", HERE / "two-jobs.yaml", "--quiet", "-o", "two-jobs.h5")


@functools.cache
def sprayed():
    """One flow of 80 MB sprayed over the eight uplinks of its leaf."""
    folder = pathlib.Path(FOLDER.name)
    (folder / "leaves.yaml").write_text(
        "{base: hgx-h100, name: leaves, nodes: 8, node: {nic: {transport: roce}}, fabric: {kind: "
        "leaf-spine, leafRadix: 32, leafDown: 16, oversubscription: 2, routing: spray}}",
        encoding="utf-8")
    (folder / "one.csv").write_text("src,dst,bytes,start_s\n0,24,80000000,0\n", encoding="utf-8")
    return made("sprayed.h5", "flows", "--topology", "leaves.yaml", "--flows", "one.csv", "-o",
                "sprayed.h5", "--quiet")


@functools.cache
def ports():
    """Packet simulation: three hosts at one switch, and later two at another, send to a host there.

    The cable between the switches has the rate of a host; PFC prevents losses.
    """
    folder = pathlib.Path(FOLDER.name)
    cables = [(host, 6 + (host > 2)) for host in range(6)] + [(6, 7)]
    (folder / "two-switches.txt").write_text(
        "8 2 7\n6 7\n" + "".join(f"{a} {b} 100Gbps 1us 0\n" for a, b in cables), encoding="utf-8")
    rows = [f"{host},5,1000000,{0 if host < 3 else 0.00005}" for host in range(5)]
    (folder / "to-five.csv").write_text("src,dst,bytes,start_s\n" + "\n".join(rows) + "\n",
                                        encoding="utf-8")
    return made("ports.h5", "flows", "--topology", "two-switches.txt", "--flows", "to-five.csv",
                "--fidelity", "packet", "--congestion-control", "none", "--set",
                "switch.flowControl=pfc", "--set", "switch.buffer=2MiB", "--port-series", "1us",
                "-o", "ports.h5", "--quiet")


@functools.cache
def run_json():
    """The output of weir run --json."""
    path = pathlib.Path(FOLDER.name) / "run.json"
    path.write_text(call("run", "llama-3-8b-16-h100", "--json").stdout, encoding="utf-8")
    return path


@functools.cache
def sweep(algorithm):
    """The CSV of weir collective."""
    return made(f"{algorithm}.csv", "collective", "--system", "hgx-h100", "--nodes", 2, "--op",
                "all-reduce", "--sizes", "1MiB:64MiB:x4", "--algorithm", algorithm, "--csv",
                f"{algorithm}.csv")


@functools.cache
def cases():
    """The file of weir sweep: two clusters by two algorithms, with two message sizes each."""
    (pathlib.Path(FOLDER.name) / "cases.yaml").write_text(
        "command: collective --system hgx-h100 --op all-reduce --sizes 1MiB,64MiB\n"
        "vary: {--nodes: [1, 2], --algorithm: [ring, tree]}\n", encoding="utf-8")
    return made("cases.h5", "sweep", "cases.yaml", "-o", "cases.h5")


@functools.cache
def validation():
    """The file of weir validate: steps, nccl-tests and slowdowns of flows."""
    return made("validation.h5", "validate", "korthikanti-2022", "nccl-v100-2019", "m3-2024",
                "-o", "validation.h5")


@functools.cache
def bounds():
    """A file as from weir validate bound, which itself takes minutes.

    Collectives of one regime take 0, 1, ... 9 % longer in flow than estimated. Their bounds extend
    from the estimate to a tenth of the coverage above it: just below 8, 9, 9.5 and 9.9 %.
    """
    path = pathlib.Path(FOLDER.name) / "bounds.h5"
    rows = [(case, coverage) for case in range(10) for coverage in (0.8, 0.9, 0.95, 0.99)]
    cases, coverages = (numpy.array(column) for column in zip(*rows))
    texts = h5py.string_dtype()
    tables = {
        "validation/bound": {
            "case": numpy.array(["covered"], texts), "class": numpy.array([""], texts),
            "measured": [1.0], "predicted": [1.0], "error": [0.0]},
        "validation/bound/statements": {
            "verdict": numpy.array(["met", "met", "BROKEN"], texts)},
        "validation/bound/bounds": {
            "of": numpy.array(["collectives"] * 40, texts),
            "regime": numpy.array(["stream/ring"] * 40, texts), "bytes": 8.0 * 2**cases,
            "ratio": 1 + 0.01 * cases, "coverage": coverages, "lower": numpy.ones(40),
            "upper": 1 + 0.1 * coverages - 1e-6}}
    with h5py.File(path, "w") as file:
        file.create_group("provenance").attrs["weir_version"] = "0"
        for name, columns in tables.items():
            for column, values in columns.items():
                file[f"{name}/{column}"] = values
        file["validation/bound"].attrs.update({"kind": "bounds", "title": "bounds"})
        file["validation/bound/bounds"].attrs["checked_coverage"] = 0.9
    return path


@functools.cache
def micro_batches():
    """The file of weir sweep: a run with micro-batches of one and two samples."""
    (pathlib.Path(FOLDER.name) / "batches.yaml").write_text(
        "command: run llama-3-8b-16-h100\nvary: {jobs.0.parallel.microBatch: [1, 2]}\n",
        encoding="utf-8")
    return made("batches.h5", "sweep", "batches.yaml", "-o", "batches.h5")


@functools.cache
def flows():
    """The CSV of weir flows: incasts of four hosts over one switch, with two sizes."""
    folder = pathlib.Path(FOLDER.name)
    (folder / "star.txt").write_text(
        "6 1 5\n5\n" + "".join(f"{host} 5 100Gbps 1us 0\n" for host in range(5)), encoding="utf-8")
    rows = [f"{host},4,{size},{0.001 * turn}" for turn, size in enumerate((1000000, 4000000))
            for host in range(4)]
    (folder / "incast.csv").write_text("src,dst,bytes,start_s\n" + "\n".join(rows) + "\n",
                                       encoding="utf-8")
    return made("flows.csv", "flows", "--topology", "star.txt", "--flows", "incast.csv", "--csv",
                "flows.csv", "--quiet")
