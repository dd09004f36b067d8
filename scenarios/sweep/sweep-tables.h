// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_SWEEP_SWEEP_TABLES_H
#define WEIR_SCENARIOS_SWEEP_SWEEP_TABLES_H

#include "scenarios/sweep/case-processes.h"
#include "scenarios/sweep/sweep.h"

#include <string>
#include <vector>

/**
 * @file
 * What a sweep gives, by its cases' JSON objects. Whatever these hold comes along: a number or text
 * is a column, of nested objects with the names of both, as bound_lower_s.
 *
 * A result is a job, a collective, a pattern of traffic, a class of flows or a message size: an
 * element of the arrays jobs, collectives, traffic, classes and points of a case.
 */
namespace weir
{

/** A line for each result: what varies, times, bandwidth, bound; of a failed case why. */
std::string ToText(const Sweep& sweep, const std::vector<EndedCase>& outcomes);

/** A row for each result: `case`, what varies, then all columns of results. */
std::string ToCsv(const Sweep& sweep, const std::vector<EndedCase>& outcomes);

/**
 * One object: title, columns, keys and cases, each {case, values, command, ended, message, result};
 * ended is "done" or "failed", message of failed ones, result the command's own object.
 */
std::string ToJson(const Sweep& sweep, const std::vector<EndedCase>& outcomes);

/**
 * HDF5: /cases, a row a case, with what varies (names in its attribute `varied`, with commas),
 * `ended`, `message`, `command` and all that the command says of the whole case; /results, the rows
 * of ToCsv; and a table for each further array of objects of the cases, as /busiest_links, with a
 * column `case`. Without wall-clock times: equal sweeps give equal files.
 * @param what the option that named @p path
 * @throws InputError when the file cannot be written.
 */
void WriteSweepFile(const std::string& path,
                    const std::string& what,
                    const Sweep& sweep,
                    const std::vector<EndedCase>& outcomes);

} // namespace weir

#endif // WEIR_SCENARIOS_SWEEP_SWEEP_TABLES_H
