// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/machine/robust-fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace weir
{

namespace
{

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

constexpr double HUBER = 1.345;       // 95 % efficiency for normal residuals (Huber 1981)
constexpr double NORMAL_MAD = 1.4826; // standard deviation / median magnitude, normal residuals
constexpr double DIFFERENCE = 0.05;   // step of an unknown for finite differences
constexpr double CONVERGED = 0.01;    // step of an unknown at convergence, in prior deviations
constexpr double SAME = 0.5;          // fits whose unknowns differ by no more are equal
constexpr double AS_GOOD = 2;         // difference of -ln posterior between comparable fits
constexpr std::size_t MAX_STARTS = 2; // in addition to the priors' means
constexpr int MAX_STEPS = 10;
constexpr int MAX_TRIALS = 5; // per step, each damped ten times as much

/** The inverse of a symmetric positive definite matrix, by Cholesky decomposition. O(n^3). */
Matrix
InverseOf(const Matrix& a)
{
    const std::size_t n = a.size();
    Matrix lower(n, Vector(n));
    for (std::size_t i = 0; i < n; i++)
    {
        for (std::size_t j = 0; j <= i; j++)
        {
            double sum = a[i][j];
            for (std::size_t k = 0; k < j; k++)
            {
                sum -= lower[i][k] * lower[j][k];
            }
            lower[i][j] = i == j ? std::sqrt(sum) : sum / lower[j][j];
        }
    }
    Matrix inverse(n, Vector(n));
    for (std::size_t column = 0; column < n; column++)
    {
        Vector y(n);
        for (std::size_t i = 0; i < n; i++)
        {
            double sum = i == column ? 1 : 0;
            for (std::size_t k = 0; k < i; k++)
            {
                sum -= lower[i][k] * y[k];
            }
            y[i] = sum / lower[i][i];
        }
        for (std::size_t i = n; i-- > 0;)
        {
            double sum = y[i];
            for (std::size_t k = i + 1; k < n; k++)
            {
                sum -= lower[k][i] * inverse[k][column];
            }
            inverse[i][column] = sum / lower[i][i];
        }
    }
    return inverse;
}

struct FitState
{
    Vector x;
    Vector predicted;
    Vector residuals;
    std::vector<bool> isUsed; //!< by observation
    Matrix jacobian;
    double scale{std::numeric_limits<double>::infinity()};
};

/** Moves @p state to the unknowns @p x with their predictions. */
void
MoveTo(const FitProblem& problem, Vector x, Vector predicted, FitState& state)
{
    state.residuals.resize(predicted.size());
    for (std::size_t i = 0; i < predicted.size(); i++)
    {
        state.residuals[i] = problem.observed[i] - predicted[i];
    }
    state.x = std::move(x);
    state.predicted = std::move(predicted);
}

/** The state at @p x, in which all observations are used. */
FitState
StateAt(const FitProblem& problem, Vector x, Vector predicted)
{
    FitState state;
    state.isUsed.assign(predicted.size(), true);
    MoveTo(problem, std::move(x), std::move(predicted), state);
    return state;
}

double
ScaleOf(const FitProblem& problem, const FitState& state)
{
    Vector sizes;
    for (std::size_t i = 0; i < state.residuals.size(); i++)
    {
        if (state.isUsed[i])
        {
            sizes.push_back(std::abs(state.residuals[i]));
        }
    }
    if (sizes.empty())
    {
        return problem.minScale;
    }
    const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
    std::nth_element(sizes.begin(), middle, sizes.end());
    return std::max(problem.minScale, NORMAL_MAD * *middle);
}

/** Huber's weight of a residual, divided by the squared scale. */
double
WeightOf(double residual, double scale)
{
    const double size = std::abs(residual) / scale;
    return (size <= HUBER ? 1 : HUBER / size) / (scale * scale);
}

/** The loss for residuals of @p scale: Huber's losses, and the priors (half the squared x). */
double
LossAt(const FitState& state, double scale)
{
    double loss = 0.5 * std::inner_product(state.x.begin(), state.x.end(), state.x.begin(), 0.0);
    for (std::size_t i = 0; i < state.residuals.size(); i++)
    {
        const double size = std::abs(state.residuals[i]) / scale;
        loss += !state.isUsed[i] ? 0
                : size <= HUBER  ? 0.5 * size * size
                                 : HUBER * (size - 0.5 * HUBER);
    }
    return loss;
}

/** Weighted normal equations of some unknowns. */
struct NormalEquations
{
    Matrix information; //!< includes the priors' 1
    Vector gradient;    //!< of the negative loss
};

NormalEquations
EquationsOf(const FitState& state, const std::vector<std::size_t>& active)
{
    const Matrix& jacobian = state.jacobian;
    NormalEquations equations{Matrix(active.size(), Vector(active.size())), Vector(active.size())};
    for (std::size_t a = 0; a < active.size(); a++)
    {
        equations.information[a][a] = 1;
        equations.gradient[a] = -state.x[active[a]];
        for (std::size_t i = 0; i < state.residuals.size(); i++)
        {
            if (!state.isUsed[i])
            {
                continue;
            }
            const double residual = state.residuals[i];
            const double weighted = WeightOf(residual, state.scale) * jacobian[active[a]][i];
            equations.gradient[a] += weighted * residual;
            for (std::size_t b = 0; b < active.size(); b++)
            {
                equations.information[a][b] += weighted * jacobian[active[b]][i];
            }
        }
    }
    return equations;
}

/** The derivatives of the predictions by the unknowns of @p active; zero for the others. */
Matrix
JacobianAt(const FitProblem& problem, const FitState& state, const std::vector<std::size_t>& active)
{
    const Vector& x = state.x;
    const Vector& predicted = state.predicted;
    std::vector<Vector> points;
    for (const std::size_t unknown : active)
    {
        points.push_back(x);
        const bool isBelow = x[unknown] + DIFFERENCE > problem.max[unknown];
        points.back()[unknown] += isBelow ? -DIFFERENCE : DIFFERENCE;
    }
    Matrix jacobian(x.size(), Vector(predicted.size()));
    const auto found = problem.predict(points);
    for (std::size_t a = 0; a < active.size(); a++)
    {
        const double difference = points[a][active[a]] - x[active[a]];
        for (std::size_t i = 0; i < predicted.size(); i++)
        {
            jacobian[active[a]][i] = (found[a][i] - predicted[i]) / difference;
        }
    }
    return jacobian;
}

/** Updates the scale, which only decreases: explained residuals are not noise again. */
void
UpdateScale(const FitProblem& problem, FitState& state)
{
    state.scale = std::min(state.scale, ScaleOf(problem, state));
}

/** The damped step from @p state within bounds: unknowns that would leave a bound are held. */
Vector
StepFrom(const FitProblem& problem,
         const FitState& state,
         const std::vector<std::size_t>& active,
         double damping)
{
    const auto& x = state.x;
    const auto all = EquationsOf(state, active);
    std::vector<std::size_t> free;
    for (std::size_t a = 0; a < active.size(); a++)
    {
        const bool leaves = all.gradient[a] > 0 ? x[active[a]] >= problem.max[active[a]]
                                                : x[active[a]] <= problem.min[active[a]];
        if (!leaves)
        {
            free.push_back(active[a]);
        }
    }
    auto equations = EquationsOf(state, free);
    for (std::size_t a = 0; a < free.size(); a++)
    {
        equations.information[a][a] *= 1 + damping;
    }
    const Matrix inverse = InverseOf(equations.information);
    Vector next = x;
    for (std::size_t a = 0; a < free.size(); a++)
    {
        const std::size_t unknown = free[a];
        next[unknown] += std::inner_product(
            inverse[a].begin(), inverse[a].end(), equations.gradient.begin(), 0.0);
        next[unknown] = std::clamp(next[unknown], problem.min[unknown], problem.max[unknown]);
    }
    return next;
}

double
LargestChange(const Vector& a, const Vector& b)
{
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); i++)
    {
        largest = std::max(largest, std::abs(a[i] - b[i]));
    }
    return largest;
}

/** Takes a step that reduces the loss. @return false, with @p state unchanged, if there is none */
bool
TakeStep(const FitProblem& problem,
         FitState& state,
         const std::vector<std::size_t>& active,
         double& damping)
{
    const double loss = LossAt(state, state.scale);
    for (int trial = 0; trial < MAX_TRIALS; trial++)
    {
        const Vector x = StepFrom(problem, state, active, damping);
        if (LargestChange(x, state.x) < CONVERGED)
        {
            return false;
        }
        FitState next = state;
        MoveTo(problem, x, problem.predict({x}).front(), next);
        if (LossAt(next, state.scale) < loss)
        {
            state = std::move(next);
            damping *= 0.1;
            return true;
        }
        damping = std::max(damping * 10, 1e-2);
    }
    return false;
}

/** Fits the unknowns of @p active; @p findsJacobian at each step, else it stays that of the state.
 */
void
Fit(const FitProblem& problem,
    const std::vector<std::size_t>& active,
    bool findsJacobian,
    FitState& state)
{
    double damping = 1e-3;
    for (int step = 0; step < MAX_STEPS; step++)
    {
        UpdateScale(problem, state);
        if (findsJacobian)
        {
            state.jacobian = JacobianAt(problem, state, active);
        }
        if (!TakeStep(problem, state, active, damping))
        {
            return;
        }
    }
}

/** Determines which unknowns the observations determine at @p state, and their standard errors. */
std::vector<FitUnknown>
Determine(const FitState& state)
{
    std::vector<std::size_t> active(state.x.size());
    std::iota(active.begin(), active.end(), std::size_t{0});
    std::vector<FitUnknown> unknowns(state.x.size());
    while (!active.empty())
    {
        const auto equations = EquationsOf(state, active);
        const Matrix covariance = InverseOf(equations.information);
        std::size_t worst = 0;
        for (std::size_t a = 0; a < active.size(); a++)
        {
            worst = covariance[a][a] > covariance[worst][worst] ? a : worst;
            unknowns[active[a]].error = std::sqrt(covariance[a][a]);
        }
        if (unknowns[active[worst]].error <= DETERMINED)
        {
            break;
        }
        FitUnknown& dropped = unknowns[active[worst]];
        const bool isShown = std::sqrt(1 / equations.information[worst][worst]) <= DETERMINED;
        double closest = 0;
        for (std::size_t a = 0; a < active.size() && isShown; a++)
        {
            const double alike = std::abs(covariance[a][worst]) / std::sqrt(covariance[a][a]);
            if (a != worst && alike > closest)
            {
                closest = alike;
                dropped.alike = static_cast<int>(active[a]);
            }
        }
        dropped.error = 1;
        active.erase(active.begin() + static_cast<std::ptrdiff_t>(worst));
    }
    for (const std::size_t unknown : active)
    {
        unknowns[unknown].isDetermined = true;
        unknowns[unknown].value = state.x[unknown];
    }
    return unknowns;
}

/** Standard errors of @p active, as described at FitRobustly. */
Vector
ErrorsOf(const FitProblem& problem, const std::vector<std::size_t>& active, const FitState& state)
{
    const Vector& residuals = state.residuals;
    const Matrix covariance = InverseOf(EquationsOf(state, active).information);
    // The score of each block: the sum of the influence of its observations.
    std::map<std::size_t, Vector> pulls;
    for (std::size_t i = 0; i < residuals.size(); i++)
    {
        Vector& pull = pulls.emplace(problem.blocks[i], Vector(active.size())).first->second;
        for (std::size_t a = 0; a < active.size(); a++)
        {
            pull[a] +=
                WeightOf(residuals[i], state.scale) * residuals[i] * state.jacobian[active[a]][i];
        }
    }
    const auto blocks = static_cast<double>(pulls.size());
    Vector errors(active.size());
    for (std::size_t a = 0; a < active.size(); a++)
    {
        double sum = 0;
        for (const auto& [block, pull] : pulls)
        {
            const double moved =
                std::inner_product(pull.begin(), pull.end(), covariance[a].begin(), 0.0);
            sum += moved * moved;
        }
        const double sandwich = sum * blocks / std::max(1.0, blocks - 1);
        errors[a] = std::sqrt(std::max(covariance[a][a], sandwich));
    }
    return errors;
}

std::vector<std::size_t>
DeterminedOf(const std::vector<FitUnknown>& unknowns)
{
    std::vector<std::size_t> determined;
    for (std::size_t i = 0; i < unknowns.size(); i++)
    {
        if (unknowns[i].isDetermined)
        {
            determined.push_back(i);
        }
    }
    return determined;
}

Vector
ValuesOf(const std::vector<FitUnknown>& unknowns)
{
    Vector values;
    for (const FitUnknown& unknown : unknowns)
    {
        values.push_back(unknown.value);
    }
    return values;
}

struct Solution
{
    FitState state; //!< undetermined unknowns are 0
    std::vector<FitUnknown> unknowns;
};

/** Fits all unknowns from @p state, then only those that are determined there. */
Solution
SolveFrom(const FitProblem& problem, FitState state)
{
    std::vector<std::size_t> all(state.x.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    Fit(problem, all, true, state);
    Solution solution;
    solution.unknowns = Determine(state);
    const Vector x = ValuesOf(solution.unknowns);
    MoveTo(problem, x, problem.predict({x}).front(), state);
    Fit(problem, DeterminedOf(solution.unknowns), true, state);
    solution.state = std::move(state);
    return solution;
}

/**
 * Other starts of a fit: points where one unknown that @p first did not determine, moved away from
 * @p start, explains the observations better. At most MAX_STARTS, those with the largest gain.
 */
std::vector<FitState>
OtherStarts(const FitProblem& problem, const FitState& start, const Solution& first)
{
    std::vector<Vector> points;
    std::vector<std::size_t> unknowns; // by candidate start
    for (std::size_t i = 0; i < first.unknowns.size(); i++)
    {
        if (first.unknowns[i].isDetermined)
        {
            continue;
        }
        for (const double deviation : {-1.0, -2.0, -3.0, 1.0, 2.0, 3.0})
        {
            if (deviation >= problem.min[i] && deviation <= problem.max[i])
            {
                points.push_back(start.x);
                points.back()[i] = deviation;
                unknowns.push_back(i);
            }
        }
    }
    if (points.empty())
    {
        return {};
    }
    const auto predictions = problem.predict(points);
    std::map<std::size_t, std::pair<double, FitState>> best; // gain and start, by unknown
    for (std::size_t candidate = 0; candidate < points.size(); candidate++)
    {
        const FitState state = StateAt(problem, points[candidate], predictions[candidate]);
        const double scale = std::min(first.state.scale, ScaleOf(problem, state));
        const double gain = LossAt(start, scale) - LossAt(state, scale);
        if (gain < AS_GOOD)
        {
            continue;
        }
        const auto [known, isNew] = best.try_emplace(unknowns[candidate], gain, state);
        if (!isNew && gain > known->second.first)
        {
            known->second = {gain, state};
        }
    }
    std::vector<std::pair<double, FitState>> ordered;
    for (auto& [unknown, found] : best)
    {
        ordered.push_back(std::move(found));
    }
    std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
        return a.first > b.first;
    });
    std::vector<FitState> starts;
    for (std::size_t i = 0; i < std::min(MAX_STARTS, ordered.size()); i++)
    {
        starts.push_back(std::move(ordered[i].second));
    }
    return starts;
}

} // namespace

RobustFit
FitRobustly(const FitProblem& problem)
{
    const std::size_t count = problem.min.size();
    if (problem.max.size() != count)
    {
        throw std::invalid_argument("FitRobustly: as many upper as lower bounds expected");
    }
    const Vector means(count, 0);
    Vector predicted = problem.predict({means}).front();
    if (predicted.size() != problem.observed.size() ||
        problem.blocks.size() != problem.observed.size())
    {
        throw std::invalid_argument(
            "FitRobustly: a prediction and a block for each observation expected");
    }
    const FitState start = StateAt(problem, means, std::move(predicted));
    std::vector<Solution> solutions{SolveFrom(problem, start)};
    for (const FitState& other : OtherStarts(problem, start, solutions.front()))
    {
        solutions.push_back(SolveFrom(problem, other));
    }
    const double scale =
        std::min_element(solutions.begin(), solutions.end(), [](const auto& a, const auto& b) {
            return a.state.scale < b.state.scale;
        })->state.scale;
    std::stable_sort(solutions.begin(), solutions.end(), [&](const auto& a, const auto& b) {
        return LossAt(a.state, scale) < LossAt(b.state, scale);
    });
    Solution& best = solutions.front();
    RobustFit fit;
    for (const Solution& other : solutions)
    {
        const double worse = LossAt(other.state, scale) - LossAt(best.state, scale);
        const bool isNew =
            std::all_of(fit.others.begin(), fit.others.end(), [&other](const Vector& told) {
                return LargestChange(told, other.state.x) > SAME;
            });
        if (worse < AS_GOOD && isNew && LargestChange(best.state.x, other.state.x) > SAME)
        {
            fit.others.push_back(other.state.x);
        }
    }
    fit.unknowns = std::move(best.unknowns);
    const auto determined = DeterminedOf(fit.unknowns);
    const Vector errors = ErrorsOf(problem, determined, best.state);
    for (std::size_t a = 0; a < determined.size(); a++)
    {
        fit.unknowns[determined[a]].value = best.state.x[determined[a]];
        fit.unknowns[determined[a]].error = errors[a];
    }
    fit.predicted = std::move(best.state.predicted);
    fit.jacobian = std::move(best.state.jacobian);
    fit.scale = best.state.scale;
    return fit;
}

std::vector<double>
RefitPart(const FitProblem& problem, const RobustFit& fit, const std::vector<bool>& isUsed)
{
    FitState state = StateAt(problem, ValuesOf(fit.unknowns), fit.predicted);
    state.isUsed = isUsed;
    state.jacobian = fit.jacobian;
    state.scale = fit.scale;
    Fit(problem, DeterminedOf(fit.unknowns), false, state);
    return state.x;
}

} // namespace weir
