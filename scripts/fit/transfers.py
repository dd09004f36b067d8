# SPDX-License-Identifier: GPL-2.0-only
"""Parts of the measured kernels that a fit can be kept from, to see how it carries over to them."""


def product(row):
    return [int(row[name]) for name in ("m", "n", "k", "batch")]


def flops(row):
    m, n, k, batch = product(row)
    return 2.0 * m * n * k * batch


# Name of the part, and whether a row of the table belongs to it.
GEMM = {
    "fp16": lambda row: row["precision"] == "fp16",
    "gradients (nn, nt)": lambda row: row["layout"] != "tn",
    "batches": lambda row: product(row)[3] > 1,
    "m up to 256": lambda row: product(row)[0] <= 256,
    "n below 512": lambda row: product(row)[1] < 512,
    "k from 16384": lambda row: product(row)[2] >= 16384,
    "few tiles, long sums": lambda row: product(row)[0] * product(row)[1] <= 66 * 128 * 128
    and product(row)[2] >= 2048,
    "rows of no whole lines": lambda row: row["set"] == "ragged8",
    "below 1e9 FLOPs": lambda row: flops(row) < 1e9,
    "from 1e12 FLOPs": lambda row: flops(row) >= 1e12,
    "layers of models": lambda row: row["set"] == "model",
}
ATTENTION = {
    "head dim 64": lambda row: int(row["headDim"]) == 64,
    "head dim below 128": lambda row: int(row["headDim"]) < 128,
    "shared keys": lambda row: row["heads"] != row["kvHeads"],
    "sequences from 8192": lambda row: int(row["sequence"]) >= 8192,
    "sequences up to 1024": lambda row: int(row["sequence"]) <= 1024,
    "batch 1": lambda row: int(row["batch"]) == 1,
    "no mask": lambda row: row["mask"] == "full",
}
MEMORY = {
    "from 1 GB": lambda row: int(row["bytes"]) >= 1e9,
    "below 10 MB": lambda row: int(row["bytes"]) < 1e7,
    "rows of 8 KiB": lambda row: int(row["rowBytes"]) == 8192,
}
LOOKUPS = {
    "Zipf from 1.2": lambda row: float(row["zipf"]) >= 1.2,
    "uniform": lambda row: float(row["zipf"]) == 0,
    "rows of 32 elements": lambda row: int(row["dim"]) == 32,
    "rows of 128 elements": lambda row: int(row["dim"]) == 128,
    "one row a bag": lambda row: int(row["pooling"]) == 1,
    "tables of 1e8 rows": lambda row: int(row["rows"]) == 10 ** 8,
    "tables of 1e5 rows": lambda row: int(row["rows"]) == 10 ** 5,
    "up to 2048 bags": lambda row: int(row["bags"]) <= 2048,
    "16-bit rows": lambda row: row["precision"] == "bf16",
}


def left_out(parts, rows):
    """Of each part that leaves enough: its name, the numbers of the others and of its rows."""
    for name, belongs in parts.items():
        test = [i for i, row in enumerate(rows) if belongs(row)]
        inside = set(test)
        train = [i for i in range(len(rows)) if i not in inside]
        if test and len(train) >= 5:
            yield name, train, test
