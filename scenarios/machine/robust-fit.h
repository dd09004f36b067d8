// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_MACHINE_ROBUST_FIT_H
#define WEIR_SCENARIOS_MACHINE_ROBUST_FIT_H

#include <cstddef>
#include <functional>
#include <vector>

/**
 * @file
 * Robust nonlinear least squares with priors: Gauss-Newton steps, damped (Levenberg 1944, Marquardt
 * 1963), with Huber's weights (Huber 1964) at a scale that the residuals' median gives.
 */
namespace weir
{

/**
 * What is fitted: each unknown has a normal prior of mean 0 and standard deviation 1, in units that
 * the caller chose so.
 */
struct FitProblem
{
    /** Predictions, one an observation, at the unknowns @p x; several are asked for at once. */
    using Predict =
        std::function<std::vector<std::vector<double>>(const std::vector<std::vector<double>>& x)>;

    Predict predict;
    std::vector<double> observed;
    std::vector<double> least;       //!< of each unknown
    std::vector<double> most;        //!< of each unknown
    std::vector<std::size_t> blocks; //!< by observation: those of one block may err alike
    double minScale{0.01};           //!< of residuals: what no observation is better than
};

/** Why an unknown has been fitted, or has not. */
struct FitUnknown
{
    double value{0}; //!< 0, the prior's mean, where it is not determined
    double error{1}; //!< its standard error; 1, the prior's, where it is not determined
    bool isDetermined{false};
    int alike{-1}; //!< an unknown that it cannot be told apart from; -1: nothing shows it
};

struct RobustFit
{
    std::vector<FitUnknown> unknowns;
    std::vector<double> predicted; //!< at the values
    double scale{0};               //!< standard deviation of the residuals, outliers aside
    std::vector<std::vector<double>>
        jacobian;                            //!< by unknown: d predicted / d unknown at the values
    std::vector<std::vector<double>> others; //!< unknowns of other fits that are about as good
};

/** Part of the prior's standard deviation that is left of an unknown which counts as determined. */
constexpr double DETERMINED = 0.5;

/**
 * Fits the unknowns: first all, then those alone that the observations determine. As long as the
 * standard error of one is more than DETERMINED of its prior's, the one with the largest goes back
 * to its prior's mean.
 *
 * Standard errors are the larger of those that the curvature gives, as if observations erred
 * independently, and those of the sandwich estimator over blocks (Liang and Zeger 1986).
 *
 * What nothing depends on where the fit begins, as another limit binds there, may still explain the
 * observations: the fit is made again from the two places where an unknown that it did not
 * determine explains them best alone, within three standard deviations of its prior. The best fit
 * counts; others whose loss is greater by less than 2, as of odds of 7, are told.
 *
 * A Jacobian takes one prediction for each unknown; about ten are made for each start.
 * @throws std::invalid_argument when the sizes of @p problem disagree.
 */
RobustFit FitRobustly(const FitProblem& problem);

/**
 * Fits what @p fit determined again, to some observations alone: with its Jacobian, from its
 * values.
 * @param isUsed by observation
 * @return the unknowns, which may lie at their bounds
 */
std::vector<double> RefitPart(const FitProblem& problem,
                              const RobustFit& fit,
                              const std::vector<bool>& isUsed);

} // namespace weir

#endif // WEIR_SCENARIOS_MACHINE_ROBUST_FIT_H
