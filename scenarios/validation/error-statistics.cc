// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/error-statistics.h"

#include "compute-model/execution/percentiles.h"
#include "scenarios/results/text-table.h"
#include "scenarios/yaml/mapped.h"

#include <algorithm>
#include <cmath>

namespace weir
{

ErrorStatistics
Summarize(const std::vector<double>& errors)
{
    ErrorStatistics statistics;
    statistics.count = errors.size();
    if (errors.empty())
    {
        return statistics;
    }
    const auto count = static_cast<double>(errors.size());
    std::vector<double> absolute;
    absolute.reserve(errors.size());
    for (const double error : errors)
    {
        absolute.push_back(std::abs(error));
        statistics.bias += error / count;
        statistics.meanAbsolute += std::abs(error) / count;
    }
    std::sort(absolute.begin(), absolute.end());
    statistics.median = QuantileOf(absolute, 0.5);
    statistics.p90 = QuantileOf(absolute, 0.9);
    statistics.worst = absolute.back();
    return statistics;
}

std::vector<ClassStatistics>
SummarizeByClass(const std::vector<ClassifiedError>& errors)
{
    struct Class
    {
        std::size_t column;
        std::string name;
        std::vector<double> errors;
    };

    std::vector<Class> classes;
    for (const ClassifiedError& one : errors)
    {
        for (std::size_t column = 0; column < one.classes.size(); column++)
        {
            auto found = std::find_if(classes.begin(), classes.end(), [&](const Class& known) {
                return known.column == column && known.name == one.classes[column];
            });
            if (found == classes.end())
            {
                classes.push_back({column, one.classes[column], {}});
                found = classes.end() - 1;
            }
            found->errors.push_back(one.error);
        }
    }
    std::stable_sort(classes.begin(), classes.end(), [](const Class& a, const Class& b) {
        return a.column < b.column;
    });
    return Mapped<ClassStatistics>(classes, [&](const Class& one) {
        return ClassStatistics{one.name, Summarize(one.errors)};
    });
}

std::string
SignedPercent(double fraction)
{
    return (fraction < 0 ? "" : "+") + FormatPercent(fraction);
}

} // namespace weir
