// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_SUITE_STATEMENT_H
#define WEIR_SCENARIOS_VALIDATION_SUITE_STATEMENT_H

#include "collectives/fidelity.h"
#include "scenarios/validation/error-statistics.h"
#include "scenarios/yaml/yaml-node.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir
{

/** What a suite states a figure of its errors for. */
enum class StatementKind : uint8_t
{
    Expected, //!< what a user may expect
    Guard,    //!< what the present code reaches and a little: nothing gets worse unseen
    Known     //!< a failure that is explained, with the figure that it has now
};

constexpr StatementKind STATEMENT_KINDS[] = {
    StatementKind::Expected, StatementKind::Guard, StatementKind::Known};

/** A figure of the errors of some cases. */
enum class ErrorFigure : uint8_t
{
    Mean, //!< of the absolute errors, as the three that follow
    Median,
    P90, //!< 90th percentile
    Worst,
    Bias,   //!< mean of the signed errors; of one case its error
    Lowest, //!< smallest signed error
    Cases   //!< how many cases there are
};

/** One figure that a suite states. */
struct SuiteStatement
{
    StatementKind kind{StatementKind::Expected};
    ErrorFigure figure{ErrorFigure::Mean};
    std::string ofClass;          //!< of cases; empty: of all
    std::string ofCase;           //!< empty: all of the class
    double stated{0};             //!< 0.1 for 10 %
    std::optional<Fidelity> of{}; //!< of the collectives that it is about; none: any
    std::string reason;
};

/** What became of a statement. */
enum class StatementVerdict : uint8_t
{
    Met,
    KnownFailure, //!< expected and missed, as the suite knows
    Broken
};

/** A statement and the figure that it is about. */
struct CheckedStatement
{
    SuiteStatement statement;
    double found{0};
    StatementVerdict verdict{StatementVerdict::Met};
    std::string note; //!< why it is broken; empty: its figure says so
};

/**
 * What the map @p suite states: {expected, guard, known}, each a list of {class, mean, median, p90,
 * worst, bias, lowest, cases, fidelity, reason}. Without `class` a figure is of all cases. What is
 * expected is so at every fidelity of collectives, guards and known figures are of `analytical`
 * where they say nothing. An entry of `known` gives its reason and excuses what is expected, at
 * every fidelity: the same figure of the same class; with `worst` all cases of its class; with
 * {class, case, error} a single one.
 * @throws InputError with the place of what is missing, unknown, or excuses nothing.
 */
std::vector<SuiteStatement> ReadStatements(const YamlNode& suite);

/**
 * Compares what is stated of @p fidelity with the errors of @p cases. Absolute figures may be at
 * most what is stated, a bias may be so far from zero, the lowest error and the number of cases are
 * at least what is stated. What `known` states is to be true to a twentieth or 0.3 points of per
 * cent, and to be a failure; `worst` leaves out the cases that are known to fail where it is
 * expected. A statement of a class without cases is broken. Complexity O(statements * cases).
 */
std::vector<CheckedStatement> Check(const std::vector<SuiteStatement>& statements,
                                    const std::vector<ClassifiedError>& cases,
                                    Fidelity fidelity = Fidelity::Analytical);

/** Whether none of the statements of @p kind is broken. */
bool IsMet(const std::vector<CheckedStatement>& statements, StatementKind kind);

/** Whether no statement is broken. */
bool AreMet(const std::vector<CheckedStatement>& statements);

const char* ToString(StatementKind kind);
const char* ToString(ErrorFigure figure);
const char* ToString(StatementVerdict verdict);

/** "mean of class tensor 8". */
std::string Title(const SuiteStatement& statement);

/**
 * For the terminal: a line a statement with what is stated and found, of guards those that are
 * broken unless @p listsAll; the reasons of known failures and of what is broken; and which of the
 * three kinds the suite meets.
 */
std::string ToText(const std::vector<CheckedStatement>& statements, bool listsAll);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_SUITE_STATEMENT_H
