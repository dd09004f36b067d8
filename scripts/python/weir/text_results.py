# SPDX-License-Identifier: GPL-2.0-only
"""Results in text: CSV of weir collective and weir flows, JSON of weir run."""
import csv
import json
import os
import re
import stat

import numpy
import pandas

from weir.errors import InputError
from weir.result import TextResult

#: CSV files by the columns that tell them apart: the table that they are, and its units.
CSV_TABLES = {
    "bandwidth": {"collective": "", "size_bytes": "B", "time_us": "us", "algbw_GBps": "GB s-1",
                  "busbw_GBps": "GB s-1"},
    "flows": {"flow": "", "src": "", "dst": "", "bytes": "B", "start_s": "s", "finish_s": "s",
              "fct_s": "s", "ideal_fct_s": "s", "slowdown": "1"},
}
MEASURED = {"size_bytes": "B", "busbw_GBps": "GB s-1"}
TEXTS = {"collective", "regime", "region"}  # columns that are no numbers
NAMES = ["job", "name", "kind"]  # the same of the tables of a run's JSON
EXPECTED = ("expected a result of weir: HDF5, the CSV of weir collective or weir flows, or the "
            "JSON of weir run")


def unreadable(path, error, expected):
    """The InputError of a file that cannot be opened."""
    return InputError(f"{path or repr(path)}: found no file that can be read "
                      f"({error.strerror}), {expected}")


def refuse_device(path, file, expected):
    """Raises InputError where an open file is a device, which may have no end."""
    if stat.S_ISCHR(os.fstat(file.fileno()).st_mode):
        raise InputError(f"{path}: found a device, {expected}")


def read_frame(path, tables, expected):
    """The frame of a CSV; an empty one where it has the columns of none of the tables."""
    try:
        columns = set(pandas.read_csv(path, nrows=0))  # rows of what is no table may not parse
        is_table = any(set(units) <= columns for units in tables.values())
        return pandas.read_csv(path) if is_table else pandas.DataFrame()
    except pandas.errors.EmptyDataError:
        raise InputError(f"{path}: found nothing in it, {expected}") from None
    except (ValueError, csv.Error) as error:  # pandas' parser errors are ValueErrors
        line = re.search(r"line (\d+)", str(error))
        where = f"{path}:{line.group(1)}" if line else path
        raise InputError(f"{where}: found a row that does not fit its columns, {expected}"
                         ) from None


def read_measured(path):
    """Measured bandwidths: a CSV with size_bytes and busbw_GBps, perhaps with other columns."""
    expected = "expected a CSV with the columns size_bytes and busbw_GBps"
    tables = {"bandwidth": MEASURED}
    try:
        with open(path, "rb") as file:
            refuse_device(path, file, expected)
        return read_table(path, read_frame(path, tables, expected), tables, expected)
    except InputError as error:
        raise InputError(f"--measured: {error}") from None
    except OSError as error:
        raise InputError(f"--measured: {unreadable(path, error, expected)}") from None


def read_csv(path):
    """A CSV as a result of one table; further columns stay as they are."""
    return read_table(path, read_frame(path, CSV_TABLES, EXPECTED), CSV_TABLES, EXPECTED)


def check_numbers(path, where, values):
    """Raises InputError unless all values of a column are numbers of at least zero, and finite."""
    if not (pandas.api.types.is_numeric_dtype(values) and values.notna().all()):
        raise InputError(f"{path}: found a value in {where} that is no number, expected numbers")
    wrong = values[~(numpy.isfinite(values) & (values >= 0))]
    if len(wrong):
        raise InputError(f"{path}: found {wrong.iloc[0]} in {where}, expected finite numbers of at "
                         "least 0")


def read_table(path, frame, tables, expected):
    """The result that has a frame as its table, that of its columns."""
    for name, units in tables.items():
        if not set(units) <= set(frame):
            continue
        if frame.empty:
            raise InputError(f"{path}: found no row below the header, expected one or more")
        for column in units:
            if column not in TEXTS:
                check_numbers(path, f"column {column}", frame[column])
        if name == "flows":
            frame = frame.set_index("flow")
        frame.attrs = {"units": units, "long_name": {}}
        return TextResult(path, "", {name: frame}, {})
    raise InputError(f"{path}: found no table of weir, {expected}")


def read_json(path, text):
    """What weir run --json printed: summary, steps, memory and the busiest links."""
    try:
        run = json.loads(text, parse_constant=float)  # NaN and infinities are refused below
        summary, steps, memory = [], [], []
        for job in run["jobs"]:
            for stage, parts in enumerate(job["stages"]):
                summary.append({"job": job["name"], "stage": stage, "step_time": job["step_time_s"],
                                **parts})
            steps += [{"job": job["name"], "step": number, "duration": duration}
                      for number, duration in enumerate(job["steps_s"])]
            memory.append({"job": job["name"], **job["gpu_memory_bytes"]})
        links = pandas.DataFrame(run["busiest_links"]).rename(
            columns={"mean_utilization": "utilization"})
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}:{error.colno}: found no run of weir, as it is no "
                         f"JSON, {EXPECTED}") from None
    except KeyError as error:
        raise InputError(f"{path}: found no run of weir, as it has no {error}, {EXPECTED}"
                         ) from None
    except (ValueError, TypeError, AttributeError):
        raise InputError(f"{path}: found no run of weir, {EXPECTED}") from None
    frames = {"summary": pandas.DataFrame(summary), "steps": pandas.DataFrame(steps),
              "memory": pandas.DataFrame(memory), "links": links}
    for name, frame in frames.items():
        for column in frame.columns.difference(NAMES):
            values = frame[column].dropna().infer_objects()  # null: a job has no such value
            if len(values):
                check_numbers(path, f"{column} of {name}", values)
        units = "B" if name == "memory" else "s"
        frame.attrs = {"units": {key: units for key in frame.select_dtypes("number")
                                 if key not in ("stage", "step", "utilization", "busy_fraction")},
                       "long_name": {}}
    frames["summary"].attrs.update({"step_time_s": run.get("step_time_s"),
                                    "events": run.get("events")})
    provenance = {"mode": run["fidelity"]} if "fidelity" in run else {}
    return TextResult(path, run.get("title", ""), frames, provenance)
