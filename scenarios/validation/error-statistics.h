// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_ERROR_STATISTICS_H
#define WEIR_SCENARIOS_VALIDATION_ERROR_STATISTICS_H

#include <cstddef>
#include <string>
#include <vector>

namespace weir
{

/** Statistics of prediction errors, which are predicted / measured - 1. */
struct ErrorStatistics
{
    std::size_t count{0};
    double meanAbsolute{0};
    double median{0}; //!< of the absolute errors
    double p90{0};    //!< 90th percentile of the absolute errors
    double worst{0};  //!< largest absolute error
    double bias{0};   //!< mean of the signed errors
};

/**
 * Statistics of signed relative errors; percentiles interpolate linearly, as numpy.percentile does.
 * All are zero when there are no errors. Complexity O(n log n).
 */
ErrorStatistics Summarize(const std::vector<double>& errors);

/** A signed relative error and its classes. */
struct ClassifiedError
{
    std::vector<std::string> classes;
    double error{0};
    std::string name{}; //!< name of the case
};

/** Statistics of one class. */
struct ClassStatistics
{
    std::string name;
    ErrorStatistics errors;
};

/** Statistics of every class, in the order of first appearance, grouped by column. */
std::vector<ClassStatistics> SummarizeByClass(const std::vector<ClassifiedError>& errors);

/** "12.3 %", with a sign. */
std::string SignedPercent(double fraction);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_ERROR_STATISTICS_H
