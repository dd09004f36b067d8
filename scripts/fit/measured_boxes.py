# SPDX-License-Identifier: GPL-2.0-only
"""The boxes that the measured kernels fill, as scenarios/gpus/h200-sxm.yaml has them (`measured`)."""
ELEMENT = {"bf16": 2, "fp16": 2, "fp8": 1, "tf32": 4, "fp32": 4}
# Kinds whose time depends on the length of a row (kernel-calibration.h: several rates, or a latency).
BY_ROW = ("layerNorm", "rmsNorm", "softmax", "crossEntropy")


def word_bytes(row):
    """The widest word, up to 16 bytes, that all rows of a product's matrices are whole words of."""
    m, n, k = (int(row[name]) for name in ("m", "n", "k"))
    element = ELEMENT[row["precision"]]
    lengths = ((m if row["layout"] == "nt" else k) * element,
               (k if row["layout"] == "tn" else n) * element, n * ELEMENT[row["output"]])
    return next(width for width in (16, 8, 4, 2, 1) if all(length % width == 0 for length in lengths))


def boxes(rows, key, features):
    """By key in order of appearance: the least and the most of each feature."""
    found = {}
    for row in rows:
        box = found.setdefault(key(row), {})
        for name, value in features(row).items():
            least, most = box.get(name, (value, value))
            box[name] = min(least, value), max(most, value)
    return found


def number(value):
    return f"{value:.17g}"


def text(box):
    return ", ".join(f"{name}: [{number(least)}, {number(most)}]" for name, (least, most) in box.items())


def gemm_features(row):
    a = {name: int(row[name]) for name in ("m", "n", "k", "batch")}
    return {**a, "flops": 2 * a["m"] * a["n"] * a["k"] * a["batch"]}


def attention_features(row):
    a = {name: int(row[name]) for name in ("batch", "heads", "kvHeads", "sequence", "headDim")}
    return {"batch": a["batch"], "heads": a["heads"], "group": a["heads"] // a["kvHeads"],
            "sequence": a["sequence"], "headDim": a["headDim"],
            "flops": 4 * a["batch"] * a["heads"] * a["sequence"] ** 2 * a["headDim"]}


def memory_features(row):
    features = {"bytes": int(row["bytes"])}
    if row["kernel"].startswith(BY_ROW):
        features["row"] = int(row["rowBytes"])
    return features


def print_boxes(read):
    """The map `measured`; @p read gives the rows of a table."""
    print("  measured:\n    gemm:")
    key = lambda row: (row["precision"], row["layout"], word_bytes(row) == 16)
    for (precision, layout, aligned), box in boxes(read("gemm.csv"), key, gemm_features).items():
        print(f"      - {{precision: {precision}, layout: {layout}, aligned: {str(aligned).lower()}, {text(box)}}}")
    print("    attention:")
    for mask, box in boxes(read("attention.csv"), lambda row: row["mask"], attention_features).items():
        print(f"      - {{precision: bf16, mask: {mask}, {text(box)}}}")
    print("    memory:")
    for kernel, box in boxes(read("memory.csv"), lambda row: row["kernel"], memory_features).items():
        print(f"      {kernel}: {{{text(box)}}}")
    print("    lookups:")
    features = lambda row: {name: float(row[name]) for name in ("rows", "dim", "bags", "pooling", "zipf")}
    for (phase, precision), box in boxes(read("embedding.csv"),
                                         lambda row: (row["phase"], row["precision"]), features).items():
        print(f"      - {{phase: {phase}, precision: {precision}, {text(box)}}}")
