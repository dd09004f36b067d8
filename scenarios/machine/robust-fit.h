// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_MACHINE_ROBUST_FIT_H
#define WEIR_SCENARIOS_MACHINE_ROBUST_FIT_H

#include <cstddef>
#include <functional>
#include <vector>

/**
 * @file
 * Robust nonlinear least squares with priors: damped Gauss-Newton steps (Levenberg 1944, Marquardt
 * 1963) with Huber weights (Huber 1964), whose scale comes from the median of the residuals.
 */
namespace weir
{

/** A fit problem, in units in which each unknown has a standard normal prior. */
struct FitProblem
{
    /** For each of the vectors of unknowns @p x, the predictions, one per observation. */
    using Predict =
        std::function<std::vector<std::vector<double>>(const std::vector<std::vector<double>>& x)>;

    Predict predict;
    std::vector<double> observed;
    std::vector<double> min;         //!< of each unknown
    std::vector<double> max;         //!< of each unknown
    std::vector<std::size_t> blocks; //!< by observation; errors within one block may be correlated
    double minScale{0.01}; //!< lower limit of the residuals' scale: minimum noise of an observation
};

/** The result for one unknown. */
struct FitUnknown
{
    double value{0}; //!< 0, the prior's mean, where undetermined
    double error{1}; //!< standard error; 1, the prior's, where undetermined
    bool isDetermined{false};
    int alike{-1}; //!< an unknown that it cannot be distinguished from; -1: none
};

struct RobustFit
{
    std::vector<FitUnknown> unknowns;
    std::vector<double> predicted; //!< at the fitted values
    double scale{0};               //!< robust standard deviation of the residuals
    std::vector<std::vector<double>>
        jacobian; //!< by unknown: d predicted / d unknown at the fitted values
    std::vector<std::vector<double>> others; //!< unknowns of other fits that are about as good
};

/** An unknown counts as determined when its standard error is at most this part of its prior's. */
constexpr double DETERMINED = 0.5;

/**
 * Fits the unknowns: first all of them, then only those that the observations determine. As long as
 * some standard error exceeds DETERMINED times its prior's, the unknown with the largest one is
 * reset to its prior's mean.
 *
 * Standard errors are the larger of those from the curvature, which assume independent errors, and
 * those of the sandwich estimator over blocks (Liang and Zeger 1986).
 *
 * An unknown without effect at the start, because another limit is binding there, may still explain
 * the observations. The fit is therefore repeated from the two starts where a single undetermined
 * unknown, varied within three standard deviations of its prior, explains them best. The fit with
 * the least loss is returned; fits whose loss is less than 2 greater (odds of 7) are reported as
 * `others`.
 *
 * A Jacobian takes one prediction for each unknown; each start takes about ten Jacobians.
 * @throws std::invalid_argument when the sizes of @p problem disagree.
 */
RobustFit FitRobustly(const FitProblem& problem);

/**
 * Refits the unknowns that @p fit determined to a subset of the observations, with its Jacobian and
 * from its values.
 * @param isUsed by observation
 * @return the unknowns, which may lie at their bounds
 */
std::vector<double> RefitPart(const FitProblem& problem,
                              const RobustFit& fit,
                              const std::vector<bool>& isUsed);

} // namespace weir

#endif // WEIR_SCENARIOS_MACHINE_ROBUST_FIT_H
