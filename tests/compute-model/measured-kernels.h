// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TESTS_COMPUTE_MODEL_MEASURED_KERNELS_H
#define WEIR_TESTS_COMPUTE_MODEL_MEASURED_KERNELS_H

#include "scenarios/readers/read-gpu.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace weir
{

/** A GPU of the repository by name. */
inline Gpu
NamedGpu(const std::string& name)
{
    return LoadGpu(std::string(WEIR_SOURCE_DIR) + "/scenarios/gpus/" + name + ".yaml");
}

/** Peak of 16-bit GEMMs at the boost clock, an upper bound for every kernel. */
inline FlopRate
BoostPeak(const Gpu& gpu)
{
    const double perSmPerClock =
        gpu.tensorFlopsPerSmPerClock[static_cast<std::size_t>(Precision::Bf16)];
    return FlopRate::FlopsPerSecond(perSmPerClock * gpu.sms * gpu.boostClockHz);
}

/** One row of a table, by column name. */
using MeasuredRow = std::map<std::string, std::string>;

/** The fields of a line of comma-separated values without quotes. */
inline std::vector<std::string>
SplitFields(const std::string& line)
{
    std::vector<std::string> fields;
    std::istringstream in(line + ",");
    for (std::string field; std::getline(in, field, ',');)
    {
        fields.push_back(field);
    }
    return fields;
}

/**
 * The rows of a table of measurements, a file of comma-separated values below validation/.
 * @throws std::runtime_error if the file does not exist, or a row does not have one field per
 *   column
 */
inline std::vector<MeasuredRow>
ReadMeasured(const std::string& file)
{
    std::ifstream in(std::string(WEIR_SOURCE_DIR) + "/validation/" + file);
    std::string line;
    if (!std::getline(in, line))
    {
        throw std::runtime_error("no table validation/" + file);
    }
    const std::vector<std::string> columns = SplitFields(line);
    std::vector<MeasuredRow> rows;
    while (std::getline(in, line))
    {
        const std::vector<std::string> fields = SplitFields(line);
        if (fields.size() != columns.size())
        {
            throw std::runtime_error("validation/" + file + ": other fields than columns: " + line);
        }
        MeasuredRow row;
        for (std::size_t i = 0; i < columns.size(); i++)
        {
            row[columns[i]] = fields[i];
        }
        rows.push_back(row);
    }
    return rows;
}

/** The @p share quantile of |modeled / measured - 1|. */
inline double
ErrorQuantile(std::vector<double> errors, double share)
{
    for (double& error : errors)
    {
        error = std::fabs(error);
    }
    std::sort(errors.begin(), errors.end());
    return errors.at(static_cast<std::size_t>(share * static_cast<double>(errors.size() - 1)));
}

} // namespace weir

#endif // WEIR_TESTS_COMPUTE_MODEL_MEASURED_KERNELS_H
