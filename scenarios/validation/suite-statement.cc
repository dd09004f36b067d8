// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/suite-statement.h"

#include "fabric/enum-names.h"
#include "scenarios/readers/scenario-names.h"
#include "scenarios/readers/yaml-keys.h"
#include "scenarios/results/text-table.h"
#include "scenarios/yaml/names.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace weir
{

namespace
{

constexpr EnumName<ErrorFigure> FIGURES[]{{ErrorFigure::Mean, "mean"},
                                          {ErrorFigure::Median, "median"},
                                          {ErrorFigure::P90, "p90"},
                                          {ErrorFigure::Worst, "worst"},
                                          {ErrorFigure::Bias, "bias"},
                                          {ErrorFigure::Lowest, "lowest"},
                                          {ErrorFigure::Cases, "cases"}};

constexpr double KNOWN_SHARE = 0.05;     //!< relative tolerance of a known figure
constexpr double KNOWN_ABSOLUTE = 0.003; //!< or absolute tolerance, if larger
constexpr double ROUNDING = 1e-9;        //!< tolerance for a figure that is met exactly
constexpr double SMALL = 0.001;          //!< figures below are printed with more digits
constexpr double LARGEST_PERCENT = 1e4;  //!< of a stated error

bool
IsSigned(ErrorFigure figure)
{
    return figure == ErrorFigure::Bias || figure == ErrorFigure::Lowest;
}

/** Parses a percentage: "10%" as 0.1. */
double
ReadPercentage(const YamlNode& node, bool isSigned)
{
    const std::string text = node.AsString();
    const bool hasPlus = !text.empty() && text.front() == '+';
    const char* const begin = text.data() + (hasPlus ? 1 : 0);
    const char* const end = text.data() + text.size();
    double percent = 0;
    const auto [stop, error] = std::from_chars(begin, end, percent);
    if (error != std::errc() || stop + 1 != end || *stop != '%' ||
        !(std::abs(percent) <= LARGEST_PERCENT) || (!isSigned && (percent < 0 || hasPlus)))
    {
        node.Fail("found '" + text + "', expected a percentage, as in " +
                  (isSigned ? "-3.5%" : "10%"));
    }
    return percent / 100;
}

void
ReadEntry(const YamlNode& entry, StatementKind kind, std::vector<SuiteStatement>& statements)
{
    const bool isKnown = kind == StatementKind::Known;
    const auto ofCase = isKnown ? entry.Find("case") : std::nullopt;
    SuiteStatement statement;
    statement.kind = kind;
    if (kind != StatementKind::Expected)
    {
        statement.of = Fidelity::Analytical;
    }
    if (const auto reason = isKnown ? entry.Get("reason") : entry.Find("reason"))
    {
        statement.reason = reason->AsString();
    }
    entry.Read("class", statement.ofClass, &YamlNode::AsString);
    if (ofCase)
    {
        entry.CheckKeys(YamlKeysOf("suite.known"));
        statement.figure = ErrorFigure::Bias;
        statement.ofCase = ofCase->AsString();
        statement.stated = ReadPercentage(entry.Get("error"), true);
        statements.push_back(statement);
        return;
    }
    std::vector<std::string> keys{"class", "fidelity", "reason"};
    for (const auto& [figure, name] : FIGURES)
    {
        keys.emplace_back(name);
    }
    entry.CheckKeys(keys);
    entry.Read("fidelity", statement.of, ChoicesUpTo(Fidelity::Flow));
    const std::size_t before = statements.size();
    for (const auto& [figure, name] : FIGURES)
    {
        if (const auto stated = entry.Find(name))
        {
            constexpr int64_t MAX_CASES = 1 << 30;
            statement.figure = figure;
            statement.stated = figure == ErrorFigure::Cases
                                   ? static_cast<double>(stated->AsInteger(1, MAX_CASES))
                                   : ReadPercentage(*stated, IsSigned(figure));
            statements.push_back(statement);
        }
    }
    if (statements.size() == before)
    {
        entry.Fail(
            "states no figure, expected one of mean, median, p90, worst, bias, lowest, "
            "cases");
    }
}

/** Whether a known failure is of single cases: of a named case, or the worst of a class. */
bool
IsOfSomeCases(const SuiteStatement& known)
{
    return !known.ofCase.empty() || known.figure == ErrorFigure::Worst;
}

/** Whether @p known excuses a miss of @p expected, by the same figure or by excluding cases. */
bool
Excuses(const SuiteStatement& known, const SuiteStatement& expected)
{
    if (IsOfSomeCases(known))
    {
        return expected.figure == ErrorFigure::Worst;
    }
    return known.figure == expected.figure && known.ofClass == expected.ofClass;
}

bool
IsAbout(const SuiteStatement& statement, const ClassifiedError& one)
{
    const bool isOfClass = statement.ofClass.empty() || IsAmong(statement.ofClass, one.classes);
    return isOfClass && (statement.ofCase.empty() || one.name == statement.ofCase);
}

/** The statistic of the signed, non-empty @p errors. */
double
FigureOf(ErrorFigure figure, const std::vector<double>& errors)
{
    const ErrorStatistics statistics = Summarize(errors);
    switch (figure)
    {
    case ErrorFigure::Mean:
        return statistics.meanAbsolute;
    case ErrorFigure::Median:
        return statistics.median;
    case ErrorFigure::P90:
        return statistics.p90;
    case ErrorFigure::Worst:
        return statistics.worst;
    case ErrorFigure::Bias:
        return statistics.bias;
    case ErrorFigure::Lowest:
        return *std::min_element(errors.begin(), errors.end());
    case ErrorFigure::Cases:
        return static_cast<double>(statistics.count);
    }
    throw std::logic_error("FigureOf: no such figure");
}

/** Whether @p found meets @p stated; NaN never does. */
bool
Reaches(ErrorFigure figure, double found, double stated)
{
    switch (figure)
    {
    case ErrorFigure::Lowest:
    case ErrorFigure::Cases:
        return found >= stated - ROUNDING;
    case ErrorFigure::Bias:
        return std::abs(found) <= std::abs(stated) + ROUNDING;
    default:
        return found <= stated + ROUNDING;
    }
}

class Checker
{
  public:
    Checker(const std::vector<SuiteStatement>& statements,
            const std::vector<ClassifiedError>& cases)
        : m_statements(statements),
          m_cases(cases)
    {
    }

    CheckedStatement Check(const SuiteStatement& statement) const
    {
        CheckedStatement checked{statement, 0, StatementVerdict::Met, ""};
        const std::vector<double> errors = ErrorsOf(statement);
        if (errors.empty())
        {
            checked.found = std::numeric_limits<double>::quiet_NaN();
            checked.verdict = StatementVerdict::Broken;
            checked.note = "no such case";
            return checked;
        }
        checked.found = FigureOf(statement.figure, errors);
        if (statement.kind == StatementKind::Known)
        {
            CheckKnown(checked);
        }
        else if (!Reaches(statement.figure, checked.found, statement.stated))
        {
            checked.verdict =
                IsKnown(statement) ? StatementVerdict::KnownFailure : StatementVerdict::Broken;
        }
        return checked;
    }

  private:
    /** Whether a case is known to fail, individually or through its class. */
    bool IsKnownToFail(const ClassifiedError& one) const
    {
        return std::any_of(
            m_statements.begin(), m_statements.end(), [&](const SuiteStatement& known) {
                return known.kind == StatementKind::Known && IsOfSomeCases(known) &&
                       IsAbout(known, one);
            });
    }

    std::vector<double> ErrorsOf(const SuiteStatement& statement) const
    {
        const bool leavesOut =
            statement.kind == StatementKind::Expected && statement.figure == ErrorFigure::Worst;
        std::vector<double> errors;
        for (const ClassifiedError& one : m_cases)
        {
            if (IsAbout(statement, one) && !(leavesOut && IsKnownToFail(one)))
            {
                errors.push_back(one.error);
            }
        }
        return errors;
    }

    /** Whether an expected figure that was missed is a known failure. */
    bool IsKnown(const SuiteStatement& expected) const
    {
        return expected.kind == StatementKind::Expected && expected.figure != ErrorFigure::Worst &&
               std::any_of(
                   m_statements.begin(), m_statements.end(), [&](const SuiteStatement& known) {
                       return known.kind == StatementKind::Known && Excuses(known, expected);
                   });
    }

    bool HaveACaseInCommon(const SuiteStatement& a, const SuiteStatement& b) const
    {
        return std::any_of(m_cases.begin(), m_cases.end(), [&](const ClassifiedError& one) {
            return IsAbout(a, one) && IsAbout(b, one);
        });
    }

    /** Checks that a known failure has its stated figure and violates what it excuses. */
    void CheckKnown(CheckedStatement& checked) const
    {
        const SuiteStatement& known = checked.statement;
        const double size = known.ofCase.empty() ? checked.found : std::abs(checked.found);
        const double off = checked.found - known.stated;
        if (!(std::abs(off) <= std::max(KNOWN_ABSOLUTE, KNOWN_SHARE * std::abs(known.stated))))
        {
            checked.verdict = StatementVerdict::Broken;
            checked.note = std::abs(checked.found) < std::abs(known.stated)
                               ? "better than stated: state the new error"
                               : "worse than stated";
            return;
        }
        for (const SuiteStatement& expected : m_statements)
        {
            if (expected.kind == StatementKind::Expected && Excuses(known, expected) &&
                HaveACaseInCommon(known, expected) &&
                !Reaches(expected.figure, size, expected.stated))
            {
                return;
            }
        }
        checked.verdict = StatementVerdict::Broken;
        checked.note = "as good as expected, no failure: remove it from the list";
    }

    const std::vector<SuiteStatement>& m_statements;
    const std::vector<ClassifiedError>& m_cases;
};

std::string
FormatFigure(ErrorFigure figure, double value)
{
    if (std::isnan(value))
    {
        return "-";
    }
    if (figure == ErrorFigure::Cases)
    {
        return FormatFixed(value, 0);
    }
    if (std::abs(value) < SMALL)
    {
        return FormatFixed(value * 100, 4) + " %";
    }
    return IsSigned(figure) ? SignedPercent(value) : FormatPercent(value);
}

/** Relation between the found and the stated figure, as a prefix. */
const char*
Relation(const SuiteStatement& statement)
{
    if (statement.kind == StatementKind::Known)
    {
        return "";
    }
    switch (statement.figure)
    {
    case ErrorFigure::Lowest:
    case ErrorFigure::Cases:
        return "at least ";
    case ErrorFigure::Bias:
        return "within ";
    default:
        return "at most ";
    }
}

/** @p text wrapped to @p width columns; lines after the first are indented by @p indent. */
std::string
Wrapped(const std::string& text, std::size_t width, std::size_t indent)
{
    std::string lines;
    std::size_t column = 0;
    for (std::size_t at = 0; at < text.size();)
    {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string word = text.substr(at, end - at);
        if (column > 0 && column + 1 + word.size() > width)
        {
            lines += "\n" + std::string(indent, ' ');
            column = indent;
        }
        else if (column > 0)
        {
            lines += " ";
            column++;
        }
        lines += word;
        column += word.size();
        at = end + 1;
    }
    return lines + "\n";
}

/** Summary of one kind: "expected: met but for 2 known failures". */
std::string
SummaryOf(const std::vector<CheckedStatement>& statements, StatementKind kind)
{
    std::size_t count = 0;
    std::size_t broken = 0;
    std::size_t excused = 0;
    for (const CheckedStatement& each : statements)
    {
        const bool isOfKind = each.statement.kind == kind;
        count += isOfKind ? 1 : 0;
        broken += isOfKind && each.verdict == StatementVerdict::Broken ? 1 : 0;
        excused += isOfKind && each.verdict == StatementVerdict::KnownFailure ? 1 : 0;
    }
    const std::string name = ToString(kind);
    if (count == 0)
    {
        return name + ": nothing stated";
    }
    if (broken > 0)
    {
        return name + ": " + std::to_string(broken) + " of " + std::to_string(count) + " BROKEN";
    }
    if (kind == StatementKind::Known)
    {
        return name + ": as stated";
    }
    if (excused > 0)
    {
        return name + ": met but for " + std::to_string(excused) + " known failure" +
               (excused == 1 ? "" : "s");
    }
    return name + ": met (" + std::to_string(count) + " figure" + (count == 1 ? ")" : "s)");
}

} // namespace

std::vector<SuiteStatement>
ReadStatements(const YamlNode& suite)
{
    std::vector<SuiteStatement> statements;
    for (const StatementKind kind : STATEMENT_KINDS)
    {
        const auto list = suite.Find(ToString(kind));
        if (!list)
        {
            continue;
        }
        for (const YamlNode& entry : list->Items())
        {
            const std::size_t before = statements.size();
            ReadEntry(entry, kind, statements);
            for (std::size_t i = before; i < statements.size(); i++)
            {
                const bool excuses =
                    std::any_of(statements.begin(), statements.end(), [&](const auto& each) {
                        return each.kind == StatementKind::Expected && Excuses(statements[i], each);
                    });
                if (kind == StatementKind::Known && !excuses)
                {
                    entry.Fail(Title(statements[i]) +
                               " is known, expected it (or the worst error) under 'expected'");
                }
            }
        }
    }
    return statements;
}

std::vector<CheckedStatement>
Check(const std::vector<SuiteStatement>& statements,
      const std::vector<ClassifiedError>& cases,
      Fidelity fidelity)
{
    const Checker checker(statements, cases);
    std::vector<CheckedStatement> checked;
    for (const SuiteStatement& statement : statements)
    {
        if (statement.of.value_or(fidelity) == fidelity)
        {
            checked.push_back(checker.Check(statement));
        }
    }
    return checked;
}

bool
IsMet(const std::vector<CheckedStatement>& statements, StatementKind kind)
{
    return std::none_of(statements.begin(), statements.end(), [&](const CheckedStatement& each) {
        return each.statement.kind == kind && each.verdict == StatementVerdict::Broken;
    });
}

bool
AreMet(const std::vector<CheckedStatement>& statements)
{
    return std::none_of(statements.begin(), statements.end(), [](const CheckedStatement& each) {
        return each.verdict == StatementVerdict::Broken;
    });
}

const char*
ToString(StatementKind kind)
{
    static constexpr EnumName<StatementKind> NAMES[]{{StatementKind::Expected, "expected"},
                                                     {StatementKind::Guard, "guard"},
                                                     {StatementKind::Known, "known"}};
    return NameIn(NAMES, kind);
}

const char*
ToString(ErrorFigure figure)
{
    return NameIn(FIGURES, figure);
}

const char*
ToString(StatementVerdict verdict)
{
    static constexpr EnumName<StatementVerdict> NAMES[]{
        {StatementVerdict::Met, "met"},
        {StatementVerdict::KnownFailure, "known failure"},
        {StatementVerdict::Broken, "BROKEN"}};
    return NameIn(NAMES, verdict);
}

std::string
Title(const SuiteStatement& statement)
{
    if (!statement.ofCase.empty())
    {
        return "error of " + statement.ofCase;
    }
    return std::string(ToString(statement.figure)) + " of " +
           (statement.ofClass.empty() ? "all" : statement.ofClass);
}

std::string
ToText(const std::vector<CheckedStatement>& statements, bool listsAll)
{
    constexpr std::size_t TITLE_WIDTH = 60;
    constexpr std::size_t WIDTH = 98;
    TextTable table(2);
    std::string reasons;
    std::string last;
    for (const CheckedStatement& each : statements)
    {
        const SuiteStatement& one = each.statement;
        const bool isBroken = each.verdict == StatementVerdict::Broken;
        const bool isKnown = one.kind == StatementKind::Known;
        if (one.kind != StatementKind::Guard || isBroken || listsAll)
        {
            table.Row({ToString(one.kind),
                       Shorten(Title(one), TITLE_WIDTH),
                       Relation(one) + FormatFigure(one.figure, one.stated),
                       FormatFigure(one.figure, each.found),
                       isKnown && !isBroken ? "as stated" : ToString(each.verdict)});
        }
        const std::string why = isBroken && !each.note.empty() ? each.note : one.reason;
        if ((isKnown || isBroken) && !why.empty() && why != last)
        {
            reasons += "  " + Wrapped(Title(one) + ": " + why, WIDTH, 4);
            last = why;
        }
    }
    std::string summary;
    for (const StatementKind kind : STATEMENT_KINDS)
    {
        summary += (summary.empty() ? "  " : "; ") + SummaryOf(statements, kind);
    }
    return statements.empty() ? "" : table.Print(2) + reasons + summary + "\n";
}

} // namespace weir
