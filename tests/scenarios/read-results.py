#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reads result files with h5py, like users, and checks them. Usage: read-results.py WEIR."""
import collections
import json
import subprocess
import sys
import tempfile

import h5py
import numpy


def check(condition, message):
    if not condition:
        sys.exit("failed: " + message)


def check_columns(group):
    """All columns of a table have equal lengths, units, a long name and the row dimension scale."""
    columns = [c for c in group.values() if isinstance(c, h5py.Dataset)]
    lengths = {len(c) for c in columns}
    check(len(lengths) == 1, f"{group.name}: columns of {lengths} rows")
    for column in columns:
        check("units" in column.attrs and "long_name" in column.attrs, f"{column.name}: attributes")
        if not h5py.h5ds.is_scale(column.id):
            check(len(column.dims[0]) == 1, f"{column.name}: no dimension scale")
        catalog = column.attrs.get("catalog")
        if catalog and len(column):
            check(max(column) < len(group.file[catalog]), f"{column.name}: beyond {catalog}")


def carried_by_flows(file):
    """Bytes of each link, computed from the flows, their paths and shares."""
    flows, paths = file["flows"], file["flow_paths"]
    check(flows.attrs["rows_left_out"] == 0, "all flows are there")
    by_path = numpy.bincount(flows["path"], flows["bytes"])
    return numpy.bincount(paths["link"], by_path[paths["path"][:]] * paths["share"],
                          minlength=len(file["links/bytes"]))


def check_carried(file, what="", tolerance=1e-9):
    """Conservation: the bytes of every link are those of the recorded flows."""
    carried, size = carried_by_flows(file), file["links/bytes"][:]
    off = abs(carried - size) > tolerance * size
    check(not off.any(), f"{what} links {numpy.flatnonzero(off)}: {carried[off]} bytes of flows, "
          f"{size[off]} of links")


def check_owners(file):
    """All tables cover the same window, and flows refer to their job and collective."""
    flows = file["flows"]
    check_carried(file)
    for group in ("steps", "ops", "collectives", "flows", "links"):
        window = [file[group].attrs["window_start_s"], file[group].attrs["window_end_s"]]
        check(window == [0, sum(file["steps/duration"])], f"{group}: its window is all steps")
    collectives = file["collectives"]
    known = {id: label for id, label in zip(collectives["id"], collectives["label"])}
    labels = [(known[id], label) for id, label in zip(flows["collective"], flows["label"]) if id in known]
    check(labels and all(a == b for a, b in labels), "a flow has its collective's label")
    check(min(flows["slowdown"]) > 1 - 1e-6, "no flow is faster than uncontended")
    check(max(abs(flows["fct"][:] - (flows["finish"][:] - flows["start"][:]))) < 1e-12, "fct")
    ranks = sum(n for n, r in set(zip(file["ops/ranks"], file["ops/rank"])))
    check(ranks == len(file["ranks/rank"]), "recorded ranks stand for all")


def check_no_job(weir, folder):
    """`weir flows` and `weir collective` write the same groups, and their links conserve bytes."""
    with open(folder + "/t.txt", "w") as topology:
        topology.write("3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n")
    with open(folder + "/f.txt", "w") as flows:
        flows.write("2\n0 1 3 100 1000000 0\n0 1 3 100 1000000 0\n")
    commands = {
        "flows": ["flows", "--topology", folder + "/t.txt", "--flows", folder + "/f.txt", "--hash-seed", "7"],
        "collective": ["collective", "--system", "hgx-h100", "--nodes", "2", "--op", "all-reduce",
                       "--fidelity", "flow", "--sizes", "1MiB,4MiB", "--qps", "2"]}
    given = {"flows": ['hash-seed: "7"'], "collective": ['qps: "2"', 'nodes: "2"', 'nccl: "2.30.7"']}
    for name, arguments in commands.items():
        path = f"{folder}/{name}.h5"
        subprocess.run([weir, *arguments, "-o", path], check=True, stdout=subprocess.DEVNULL)
        with h5py.File(path) as file:
            for group in ("summary", "steps", "ranks", "ops", "collectives", "flows", "flow_paths", "links"):
                check_columns(file[group])
            check_carried(file)
            said = file["provenance/scenario"].asstr()[()].splitlines()
            check(all(line in said for line in given[name]), f"{name}: the options in {said}")
            jobs = file["catalogs/jobs/name"].asstr()[:]
            check(set(jobs[file["flows/job"][:]]) == {name}, f"{name}: the flows' job")
            if name == "flows":
                # 1 MB each at half of 12.5 GB/s: 2 us + 160 us, uncontended 2 us + 80 us.
                check(all(abs(t - 162e-6) < 1e-12 for t in file["flows/fct"]), "two share a link")
                check(all(abs(s - 162 / 82) < 1e-9 for s in file["flows/slowdown"]), "their slowdown")
                devices = file["catalogs/devices/name"].asstr()[:]
                check(set(devices[file["flows/source"][:]]) == {"host0"}, "where they begin")
            else:
                check(list(file["bandwidth/size_bytes"]) == [1 << 20, 4 << 20], "a row a size")
                check(set(file["flows/collective"]) == {0, 1}, "a collective a size")


def system_of(folder, routing):
    """System file of eight nodes with eight GPUs under four leaves with oversubscribed uplinks."""
    path = f"{folder}/{routing}.yaml"
    with open(path, "w") as file:
        file.write(f"{{base: hgx-h100, name: leaves, nodes: 8, node: {{nic: {{transport: roce}}}}, "
                   "fabric: {kind: leaf-spine, leafRadix: 32, leafDown: 16, oversubscription: 2, "
                   f"routing: {routing}}}}}")
    return path


def check_routings(weir, folder):
    """Links conserve bytes, also if switches divide a flow over several paths."""
    with open(folder + "/some.csv", "w") as file:
        rows = [f"{host},{(host * 5 + 17 * turn) % 64},{80000 * (turn + 1)},{turn * 5e-7}"
                for turn in range(1, 4) for host in range(64) if (host * 5 + 17 * turn) % 64 != host]
        file.write("src,dst,bytes,start_s\n" + "\n".join(rows))
    with open(folder + "/one.csv", "w") as file:
        file.write("src,dst,bytes,start_s\n0,24,80000000,0")
    for routing in ("ecmp", "adaptive", "flowlet", "spray"):
        system = system_of(folder, routing)
        runs = {"some flows": ["flows", "--topology", system, "--flows", folder + "/some.csv"]}
        for fidelity in ("stream", "flow"):
            for op in ("all-reduce", "all-to-all"):
                runs[f"{op} in {fidelity}"] = [
                    "collective", "--system", system, "--nodes", "8", "--op", op, "--sizes",
                    "1MiB,48MiB", "--fidelity", fidelity]
        for name, arguments in runs.items():
            path = f"{folder}/{routing}.h5"
            subprocess.run([weir, *arguments, "-o", path], check=True, stdout=subprocess.DEVNULL)
            with h5py.File(path) as file:
                # Each part of a flow over several paths is rounded up to whole bytes.
                check_carried(file, f"{name}, {routing}:", {"spray": 1e-4, "ecmp": 1e-9}.get(routing, 1e-6))
    with h5py.File(folder + "/spray.h5") as file:
        check(any(0 < share < 1 for share in file["flow_paths/share"]), "spray divides flows")
    flows = ["flows", "--topology", system_of(folder, "spray"), "--flows", folder + "/one.csv"]
    subprocess.run([weir, *flows, "-o", folder + "/one.h5"], check=True, stdout=subprocess.DEVNULL)
    with h5py.File(folder + "/one.h5") as file:
        up = [name.startswith("leaf0->spine") for name in file["links/name"].asstr()[:]]
        check(list(carried_by_flows(file)[up]) == [10e6] * sum(up), "a flow over all uplinks")


def check_packets(weir, folder):
    """In packet simulation, forward links carry the data and return paths the acknowledgments."""
    with open(folder + "/packets.csv", "w") as file:
        rows = [f"{host},{host + 32},4096000,0" for host in range(4)]
        file.write("src,dst,bytes,start_s\n" + "\n".join(rows))
    for routing in ("ecmp", "adaptive", "flowlet", "spray"):
        path = f"{folder}/packets-{routing}.h5"
        subprocess.run([weir, "flows", "--topology", system_of(folder, routing), "--flows",
                        folder + "/packets.csv", "--fidelity", "packet", "--congestion-control",
                        "none", "--set", "queuePair.recovery=selective", "--set",
                        "queuePair.reordering=1000", "-o", path], check=True,
                       stdout=subprocess.DEVNULL)
        with h5py.File(path) as file:
            carried, size = carried_by_flows(file), file["links/bytes"][:]
            forward = carried > 0
            check(numpy.allclose(size[forward], carried[forward], rtol=0.01),
                  f"packets, {routing}: {carried[forward]} bytes of flows, {size[forward]} of links")
            check(size[~forward].max() < 0.05 * size.max(), f"packets, {routing}: no data elsewhere")


def check_fidelities(weir, folder):
    """In fidelity auto, the fidelities of collectives agree with the counts in JSON, and flows
    refer to their collective in any fidelity. A step with jitter has no bound, so that the fidelity
    of each call is chosen separately."""
    path = folder + "/auto.h5"
    shown = subprocess.run([weir, "run", "gpt-22b-8-a100-selective", "-o", path, "--json",
                            "--fidelity", "auto", "--tolerance", "2%", "--set",
                            "jobs.0.jitter={coefficientOfVariation: 0.001, per: step}"],
                           check=True, text=True, stdout=subprocess.PIPE).stdout
    counted = collections.Counter()
    for use in json.loads(shown)["auto"]["calls"]:
        counted[use["fidelity"]] += use["calls"]
    with h5py.File(path) as file:
        names = file["catalogs/fidelities/name"].asstr()[:]
        found = collections.Counter(names[file["collectives/fidelity"][:]])
        check(found == counted, f"fidelities: {found} in the file, {counted} counted")
        check(set(found) == {"stream", "flow"}, f"both are used: {found}")
        known = set(file["collectives/id"])
        check(all(id in known for id in file["flows/collective"]), "flows name their collective")


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_no_job(sys.argv[1], folder)
        check_routings(sys.argv[1], folder)
        check_packets(sys.argv[1], folder)
        check_fidelities(sys.argv[1], folder)
        path = folder + "/a.h5"
        subprocess.run([sys.argv[1], "run", "gpt-22b-8-a100-selective", "-o", path, "--quiet"], check=True)
        with h5py.File(path) as file:
            for name in ("summary", "steps", "ranks", "ops", "collectives", "flows", "flow_paths", "links"):
                check_columns(file[name])
            step = file["summary"].attrs["step_time_s"]
            check(abs(file["steps/duration"][-1] - step) < 1e-12, "the steady step is the last one")
            check_owners(file)
            parts = sum(file["ranks/" + c][0] for c in ("compute", "tensor", "pipeline", "data", "copy", "bubble", "launch"))
            check(abs(parts - step) < 1e-9 * step, "a rank's breakdown sums to the step")
            labels = file["catalogs/labels/name"].asstr()[:]
            check("" not in labels[file["ops/label"][:]], "every operation has a name")
            check(file["links/name"].asstr()[0].count("->") == 1, "link names")
            provenance = file["provenance"]
            check(provenance.attrs["mode"] == "stream", "mode")
            check("title: GPT-22B" in provenance["scenario"].asstr()[()], "the scenario")
    print("ok")


main()
