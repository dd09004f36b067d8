// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_SWEEP_SWEEP_TABLES_H
#define WEIR_SCENARIOS_SWEEP_SWEEP_TABLES_H

#include "scenarios/sweep/case-processes.h"
#include "scenarios/sweep/sweep.h"

#include <string>
#include <vector>

/**
 * @file
 * The results of a sweep, from the JSON objects of its cases. All their members are included: a
 * number or text is a column; a member of a nested object is named after both, as bound_lower_s.
 *
 * A result is a job, a collective, a traffic pattern, a size class of flows or a message size: an
 * element of the arrays jobs, collectives, traffic, classes and points of a case.
 */
namespace weir
{

/**
 * A text table with one line per result: the varied values, times, bandwidth, bound; for a failed
 * case, that it failed.
 */
std::string ToText(const Sweep& sweep, const std::vector<EndedCase>& outcomes);

/** CSV with one line per result: `case`, the varied values, then all columns of results. */
std::string ToCsv(const Sweep& sweep, const std::vector<EndedCase>& outcomes);

/**
 * One JSON object: title, columns, keys and cases, each {case, values, command, ended, message,
 * result}; ended is "done", "refused" or "failed", message is that of a case that did not end well,
 * result the command's own object.
 */
std::string ToJson(const Sweep& sweep, const std::vector<EndedCase>& outcomes);

/**
 * Writes HDF5: /cases, one row per case, with the varied values (their names, separated by commas,
 * in its attribute `varied`), `ended`, `message`, `command` and all values of the case as a whole;
 * /results, the rows of ToCsv; and a table for each further array of objects of the cases, such as
 * /busiest_links, with a column `case`. Wall-clock times are left out, so that equal sweeps give
 * equal files.
 * @param what the option that named @p path
 * @throws InputError when the file cannot be written.
 */
void WriteSweepFile(const std::string& path,
                    const std::string& what,
                    const Sweep& sweep,
                    const std::vector<EndedCase>& outcomes);

} // namespace weir

#endif // WEIR_SCENARIOS_SWEEP_SWEEP_TABLES_H
