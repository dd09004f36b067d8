# SPDX-License-Identifier: GPL-2.0-only
"""Writes the reference pages from what the program says of itself.

write-reference.py WEIR FOLDER: keys.md, options.md and attributes.md from `weir reference`, and
columns.md from result files of each verb that writes them.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import h5py

WEIR = pathlib.Path(sys.argv[1]).resolve()
FOLDER = pathlib.Path(sys.argv[2])


def called(*arguments, folder=None):
    """Standard output of weir."""
    return subprocess.run([WEIR, *arguments], cwd=folder, check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def cell(text):
    """Text as one cell of a Markdown table: one line, no markup of its own."""
    text = " ".join(str(text).split())
    return re.sub(r"([|*_<>\[\]\\])", r"\\\1", text)


def code(text):
    """Text in a cell as code, or an empty cell."""
    text = " ".join(str(text).split()).replace("|", "\\|")
    return f"`{text}`" if text else ""


def kind(text):
    """The type of an attribute; a bound that is only its type's limit says nothing."""
    for limit in (":4294967295", ":9223372036854775807", ":18446744073709551615", ":65535"):
        text = text.replace(" 0" + limit, "").replace(limit, " and more")
    return re.sub(r" \+0ns:\+9\.22337e\+18ns| -1\.79769e\+308:1\.79769e\+308", "", text)


def sentence(text):
    """With a capital and a full stop, whatever the table has."""
    text = text.strip()
    return (text[:1].upper() + text[1:]).rstrip(".") + "." if text else ""


def table(header, rows):
    """A Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def keys():
    """Keys of YAML files."""
    maps = json.loads(called("reference", "keys"))
    # By what they are of, in the order in which a reader meets them.
    order = ["run", "job", "parallel", "framework", "placement", "network", "event", "output", "system", "costs",
             "sourced", "link", "gpu", "architecture", "host", "transport", "part", "model", "traffic", "corrections", "switch", "flow-sizes", "sweep", "graph", "suite",
             "calibration"]
    maps.sort(key=lambda m: order.index(re.split(r"[ .,]", m["map"])[0]))
    page = ["# YAML keys\n",
            "All keys that the readers accept, map by map (`weir reference keys`). Quantities carry "
            "units: `400Gbps`, `25GB/s`, `150ns`, `40MiB`, `1.98GHz`; anything else is refused with "
            "file, line, column and key. `--set key.path=value` sets any of them.\n"]
    for each in maps:
        page += [f"## {each['map']}\n", sentence(cell(each["help"])) + "\n"]
        page.append(table(("key", "meaning"),
                          [(code(k["key"]), cell(k["help"])) for k in each["keys"]])
                    if each["keys"] else "It has no keys of its own.\n")
    return "\n".join(page)


def options():
    """Options of the command line."""
    page = ["# Command line\n",
            "`weir VERB --help` prints the same (`weir reference options`); the manual page and the "
            "completion of bash come from it, too.\n"]
    for verb in json.loads(called("reference", "options")):
        page += [f"## weir {verb['verb']}".rstrip() + "\n", sentence(cell(verb["help"])) + "\n"]
        page.append(table(("option", "value", "default", "meaning"),
                          [(", ".join(code(n) for n in o["names"]), code(o["value"]),
                            code(o["default"]) or ("required" if o["required"] else ""),
                            cell(o["help"])) for o in verb["options"]]))
        if verb["footer"]:
            page += ["```\n" + verb["footer"] + "\n```\n"]
    return "\n".join(page)


def attributes():
    """Attributes and trace sources of ns-3 objects."""
    page = ["# ns-3 attributes and trace sources\n",
            "Of the object types of the group Weir (`weir reference attributes`), beside those of "
            "their parents.\n"]
    for each in json.loads(called("reference", "attributes")):
        page += [f"## {each['type']}\n", f"Derived from `{each['parent']}`.\n"]
        if each["attributes"]:
            page += ["Attributes:\n",
                     table(("attribute", "type", "initial", "meaning"),
                           [(code(a["name"]), code(kind(a["type"])), code(a["initial"]), cell(a["help"]))
                            for a in each["attributes"]])]
        if each["traceSources"]:
            page += ["Trace sources:\n",
                     table(("trace source", "meaning", "callback"),
                           [(code(t["name"]), cell(t["help"]), code(t["type"].split("::")[-1]))
                            for t in each["traceSources"]])]
    return "\n".join(page)


def result_files(folder):
    """Result files of each verb that writes them."""
    called("run", "llama-3-8b-16-h100", "--set", "output.linkSeries=1ms", "-o", "run.h5", "--quiet",
           folder=folder)
    called("collective", "--system", "hgx-h100", "--nodes", "2", "--op", "all-reduce", "--sizes",
           "1MiB", "-o", "collective.h5", "--link-series", "10us", folder=folder)
    (folder / "flows.csv").write_text("src,dst,bytes,start_s\n0,8,1000000,0\n")
    called("flows", "--topology", "hgx-h100", "--nodes", "2", "--flows", "flows.csv", "--fidelity",
           "packet", "-o", "flows.h5", "--link-series", "10us", "--port-series", "10us", "--quiet",
           folder=folder)
    (folder / "sweep.yaml").write_text("command: collective --system hgx-h100 --op all-reduce "
                                       "--sizes 1MiB\nvary: {--nodes: [1, 2]}\n")
    called("sweep", "sweep.yaml", "-o", "sweep.h5", folder=folder)
    called("validate", "korthikanti-2022", "-o", "steps.h5", folder=folder)
    called("validate", "nccl-v100-2019", "-o", "measured.h5", folder=folder)
    return [folder / name for name in ("run.h5", "collective.h5", "flows.h5", "sweep.h5",
                                       "steps.h5", "measured.h5")]


def text(value):
    """An attribute of HDF5 as text."""
    return value.decode() if isinstance(value, bytes) else str(value)


def columns():
    """Columns and attributes of result files."""
    groups = {}
    with tempfile.TemporaryDirectory() as folder:
        for path in result_files(pathlib.Path(folder)):
            with h5py.File(path) as file:
                def visit(name, item):
                    group = name if isinstance(item, h5py.Group) else name.rpartition("/")[0]
                    group = re.sub(r"^validation/[^/]+", "validation/SUITE", group)
                    found = groups.setdefault("/" + group, ({}, {}))
                    if isinstance(item, h5py.Dataset):
                        found[0].setdefault(name.rpartition("/")[2], dict(item.attrs))
                    else:
                        found[1].update(item.attrs)
                file.visititems(visit)
    page = ["# Columns of result files\n",
            "A group is a table, a dataset a column with the attributes `units` and `long_name`; "
            "`catalog` names the table of texts that a number indexes. {doc}`/guide/results` says "
            "what a row is. This page is read from result files.\n"]
    texts = [group for group in groups if group.startswith("/catalogs/")]
    for group, (datasets, attrs) in groups.items():
        if group in texts or not datasets and not attrs:
            continue
        page.append(f"## {group}\n")
        if datasets:
            page.append(table(("column", "unit", "meaning", "catalog"),
                              [(code(name), cell(text(a.get("units", ""))),
                                cell(text(a.get("long_name", ""))), code(text(a.get("catalog", ""))))
                               for name, a in datasets.items()]))
        if attrs:
            page.append("Attributes of the group: " + ", ".join(code(a) for a in attrs) + ".\n")
    page.append("## /catalogs\n\nTables of texts, each of the columns `index` and `name`: " +
                ", ".join(code(group) for group in texts) + ".\n")
    return "\n".join(page)


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for write in (keys, options, attributes, columns):
        (FOLDER / (write.__name__ + ".md")).write_text(write(), encoding="utf-8")
