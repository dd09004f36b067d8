// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TESTS_COMPUTE_MODEL_MEASURED_KERNELS_H
#define WEIR_TESTS_COMPUTE_MODEL_MEASURED_KERNELS_H

#include "scenarios/readers/read-gpu.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace weir
{

/** One of the repository's GPUs. */
inline Gpu
NamedGpu(const std::string& name)
{
    return LoadGpu(std::string(WEIR_SOURCE_DIR) + "/scenarios/gpus/" + name + ".yaml");
}

/** One line of a table by column name; absent and blank columns read as "". */
using MeasuredRow = std::map<std::string, std::string>;

/** Fields of one line; a quoted field may hold commas, and the line may end as on Windows. */
inline std::vector<std::string>
SplitFields(const std::string& line)
{
    std::vector<std::string> fields(1);
    bool isQuoted = false;
    for (const char c : line)
    {
        if (c == '"')
        {
            isQuoted = !isQuoted;
        }
        else if (c == ',' && !isQuoted)
        {
            fields.emplace_back();
        }
        else if (c != '\r')
        {
            fields.back() += c;
        }
    }
    return fields;
}

/** A table of kernels measured on an H200; empty when the data are not there. */
inline std::vector<MeasuredRow>
ReadMeasured(const std::string& file)
{
    std::ifstream in(std::string(WEIR_SHARED_DATA_DIR) + "/gpu-h200/" + file);
    std::vector<MeasuredRow> rows;
    std::string line;
    if (!std::getline(in, line))
    {
        return rows;
    }
    const std::vector<std::string> header = SplitFields(line);
    while (std::getline(in, line))
    {
        const std::vector<std::string> fields = SplitFields(line);
        MeasuredRow row;
        for (std::size_t i = 0; i < header.size(); i++)
        {
            row[header[i]] = i < fields.size() ? fields[i] : "";
        }
        rows.push_back(row);
    }
    return rows;
}

/** The @p share quantile of |modelled / measured - 1|. */
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
