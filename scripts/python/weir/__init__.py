# SPDX-License-Identifier: GPL-2.0-only
"""Results of Weir as pandas frames, figures and reports.

    import weir
    result = weir.open("run.h5")
    result.steps, result.links, result.flows_on("leaf5->spine0"), weir.compare(result, other)
"""
from weir.compare import compare
from weir.errors import InputError, Missing
from weir.figures import plot
from weir.opening import open_result as open  # pylint: disable=redefined-builtin
from weir.result import Result

__all__ = ["InputError", "Missing", "Result", "compare", "open", "plot"]
