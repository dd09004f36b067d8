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

/** Purpose of a statement about the errors of a suite. */
enum class StatementKind : uint8_t
{
    Expected, //!< the accuracy that a user may expect
    Guard,    //!< the accuracy of the present code plus a margin, to detect regressions
    Known     //!< an explained failure, with its present figure
};

constexpr StatementKind STATEMENT_KINDS[] = {
    StatementKind::Expected, StatementKind::Guard, StatementKind::Known};

/** A statistic of the errors of some cases. */
enum class ErrorFigure : uint8_t
{
    Mean, //!< of the absolute errors, as are the next three
    Median,
    P90, //!< 90th percentile
    Worst,
    Bias,   //!< mean of the signed errors; for one case, its error
    Lowest, //!< smallest signed error
    Cases   //!< number of cases
};

/** One figure that a suite states. */
struct SuiteStatement
{
    StatementKind kind{StatementKind::Expected};
    ErrorFigure figure{ErrorFigure::Mean};
    std::string ofClass;          //!< class of the cases; empty: all
    std::string ofCase;           //!< name of the case; empty: all cases of the class
    double stated{0};             //!< 0.1 for 10 %
    std::optional<Fidelity> of{}; //!< fidelity of collectives to which it applies; none: any
    std::string reason;
};

/** Result of checking a statement. */
enum class StatementVerdict : uint8_t
{
    Met,
    KnownFailure, //!< an expected figure is missed, as the suite states
    Broken
};

/** A statement with the figure that was found. */
struct CheckedStatement
{
    SuiteStatement statement;
    double found{0};
    StatementVerdict verdict{StatementVerdict::Met};
    std::string note; //!< reason if broken; empty: the figure itself
};

/**
 * Reads the statements of the map @p suite: {expected, guard, known}, each a list of {class, mean,
 * median, p90, worst, bias, lowest, cases, fidelity, reason}. Without `class`, a figure applies to
 * all cases. Expected figures apply to every fidelity of collectives, guards and known figures to
 * `analytical`, unless they state a fidelity. An entry of `known` gives its reason and excuses a
 * missed expectation, at every fidelity: of the same figure and class; with `worst`, of all cases
 * of its class; with {class, case, error}, of a single case.
 * @throws InputError with the location of what is missing, unknown, or excuses nothing.
 */
std::vector<SuiteStatement> ReadStatements(const YamlNode& suite);

/**
 * Compares the statements that apply to @p fidelity with the errors of @p cases. Absolute figures
 * are upper limits, a bias limits its absolute value, the lowest error and the number of cases are
 * lower limits. A `known` figure must hold within 5 % or 0.3 percentage points, whichever is
 * larger, and must violate the expectation that it excuses. An expected `worst` ignores cases that
 * are known to fail. A statement about a class without cases is broken. Complexity O(statements *
 * cases).
 */
std::vector<CheckedStatement> Check(const std::vector<SuiteStatement>& statements,
                                    const std::vector<ClassifiedError>& cases,
                                    Fidelity fidelity = Fidelity::Analytical);

/** Whether no statement of @p kind is broken. */
bool IsMet(const std::vector<CheckedStatement>& statements, StatementKind kind);

/** Whether no statement is broken. */
bool AreMet(const std::vector<CheckedStatement>& statements);

const char* ToString(StatementKind kind);
const char* ToString(ErrorFigure figure);
const char* ToString(StatementVerdict verdict);

/** "mean of class tensor 8". */
std::string Title(const SuiteStatement& statement);

/**
 * Formats statements for the terminal: one line per statement with the stated and the found figure
 * (of guards only broken ones unless @p listsAll), the reasons of known failures and broken
 * statements, and which of the three kinds the suite meets.
 */
std::string ToText(const std::vector<CheckedStatement>& statements, bool listsAll);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_SUITE_STATEMENT_H
