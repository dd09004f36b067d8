// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_ERROR_STATISTICS_H
#define WEIR_SCENARIOS_VALIDATION_ERROR_STATISTICS_H

#include <cstddef>
#include <string>
#include <vector>

namespace weir
{

/** How far predictions are from measurements; errors are predicted over measured minus 1. */
struct ErrorStatistics
{
    std::size_t count{0};
    double meanAbsolute{0};
    double median{0}; //!< of the absolute errors
    double p90{0};    //!< 90th percentile of the absolute errors
    double worst{0};  //!< the largest absolute error
    double bias{0};   //!< mean of the signed errors
};

/**
 * Of signed relative errors; percentiles interpolate between neighbors, as numpy.percentile does.
 * All zero when there are none. Complexity O(n log n).
 */
ErrorStatistics Summarise(const std::vector<double>& errors);

/** A signed relative error and the classes that it counts in. */
struct ClassifiedError
{
    std::vector<std::string> classes;
    double error{0};
    std::string name{}; //!< of the case
};

/** The statistics of one class. */
struct ClassStatistics
{
    std::string name;
    ErrorStatistics errors;
};

/** Of every class, in the order in which classes first appear, those of one column together. */
std::vector<ClassStatistics> SummariseByClass(const std::vector<ClassifiedError>& errors);

/** "12.3 %", with a sign. */
std::string SignedPercent(double fraction);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_ERROR_STATISTICS_H
