// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/suite-statement.h"

#include "refusal.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace weir
{
namespace
{

std::vector<SuiteStatement>
Read(const std::string& text)
{
    return ReadStatements(YamlNode::Parse(text, "suite"));
}

/** Errors of classes a (10, -20, 40 %) and b (-1, 2 %). */
const std::vector<ClassifiedError> CASES{{{"a"}, 0.1, "a1"},
                                         {{"a"}, -0.2, "a2"},
                                         {{"a"}, 0.4, "a3"},
                                         {{"b"}, -0.01, "b1"},
                                         {{"b"}, 0.02, "b2"}};

std::vector<CheckedStatement>
CheckText(const std::string& text, Fidelity fidelity = Fidelity::Analytical)
{
    return Check(Read(text), CASES, fidelity);
}

/** Verdict of the only statement of @p text. */
StatementVerdict
VerdictOf(const std::string& text)
{
    const auto checked = CheckText(text);
    EXPECT_EQ(checked.size(), 1U) << text;
    return checked.at(0).verdict;
}

TEST(SuiteStatement, ReadsFiguresOfClassesAndCases)
{
    const auto statements = Read(
        "expected: [{class: a, mean: 6%, worst: 20%}]\n"
        "guard: [{cases: 5, bias: -1.5%}]\n"
        "known: [{class: a, case: a3, error: +40%, reason: r}]\n");
    ASSERT_EQ(statements.size(), 5U);
    EXPECT_EQ(statements[0].kind, StatementKind::Expected);
    EXPECT_EQ(statements[0].figure, ErrorFigure::Mean);
    EXPECT_EQ(statements[0].ofClass, "a");
    EXPECT_DOUBLE_EQ(statements[0].stated, 0.06);
    EXPECT_FALSE(statements[0].of) << "what is expected is so at every fidelity";
    EXPECT_EQ(statements[1].figure, ErrorFigure::Worst);
    EXPECT_EQ(statements[2].figure, ErrorFigure::Bias);
    EXPECT_DOUBLE_EQ(statements[2].stated, -0.015);
    EXPECT_EQ(statements[3].figure, ErrorFigure::Cases);
    EXPECT_EQ(statements[3].stated, 5);
    EXPECT_EQ(statements[3].of, Fidelity::Analytical);
    EXPECT_EQ(statements[4].ofCase, "a3");
    EXPECT_EQ(statements[4].reason, "r");
}

TEST(SuiteStatement, RefusesWhatStatesNothing)
{
    for (const char* text : {"expected: [{class: a}]",
                             "expected: [{mean: 5}]",
                             "expected: [{mean: -5%}]",
                             "expected: [{mean: +5%}]",
                             "expected: [{case: a1, error: 5%}]",
                             "guard: [{average: 5%}]",
                             "guard: [{cases: 0}]",
                             "guard: [{mean: 5%, fidelity: fast}]",
                             "expected: [{worst: 5%}]\nknown: [{case: a1, error: 10%}]",
                             "expected: [{mean: 5%}]\nknown: [{mean: 10%}]"})
    {
        EXPECT_THROW(Read(text), std::exception) << text;
    }
    // A known failure must refer to an expected figure.
    EXPECT_NE(RefusalOf([] {
                  Read(
                      "expected: [{class: a, mean: 5%}]\n"
                      "known: [{class: b, mean: 6%, reason: r}]");
              }).find("mean of b is known"),
              std::string::npos);
    EXPECT_NE(RefusalOf([] {
                  Read("expected: [{mean: 5%}]\nknown: [{case: a1, error: 6%, reason: r}]");
              }).find("error of a1 is known"),
              std::string::npos);
}

// The absolute errors of a are 10, 20 and 40 %: mean 23.3, median 20, 90th percentile 20 + 0.8 * 20
// = 36 %. The mean of the signed errors is 10 %.
TEST(SuiteStatement, ComparesEveryFigureWithItsLimit)
{
    const auto met = StatementVerdict::Met;
    const auto broken = StatementVerdict::Broken;
    for (const auto& [figure, limit, less] : {std::tuple{"mean", "23.4%", "23.3%"},
                                              {"median", "20%", "19.9%"},
                                              {"p90", "36%", "35.9%"},
                                              {"worst", "40%", "39.9%"},
                                              {"bias", "10%", "9.9%"},
                                              {"bias", "-10%", "-9.9%"},
                                              {"lowest", "-20%", "-19.9%"},
                                              {"cases", "3", "4"}})
    {
        const std::string of = std::string("[{class: a, ") + figure + ": ";
        EXPECT_EQ(VerdictOf("expected: " + of + limit + "}]"), met) << figure;
        EXPECT_EQ(VerdictOf("expected: " + of + less + "}]"), broken) << figure;
        EXPECT_EQ(VerdictOf("guard: " + of + limit + "}]"), met) << figure;
        EXPECT_EQ(VerdictOf("guard: " + of + less + "}]"), broken) << figure;
    }
    EXPECT_EQ(VerdictOf("guard: [{worst: 40%}]"), met);
    EXPECT_EQ(VerdictOf("guard: [{cases: 5}]"), met);
}

// A class without cases meets no guard, and an infinite or undefined error is within no limit.
TEST(SuiteStatement, NothingIsNotMet)
{
    EXPECT_EQ(VerdictOf("guard: [{class: c, worst: 100%}]"), StatementVerdict::Broken);
    EXPECT_EQ(VerdictOf("guard: [{class: c, cases: 1}]"), StatementVerdict::Broken);
    for (const double error :
         {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    {
        const auto checked = Check(Read("guard: [{mean: 100%}]"), {{{"a"}, error, "never"}});
        EXPECT_EQ(checked.at(0).verdict, StatementVerdict::Broken) << error;
    }
}

// A known failure excuses its own figure only at the stated value: it is broken when the figure is
// better, worse or within the limit.
TEST(SuiteStatement, AKnownFailureHasItsFigure)
{
    const auto verdicts = [](const std::string& known) {
        const auto checked = CheckText(
            "expected: [{class: a, median: 15%}]\n"
            "known: [{class: a, median: " +
            known + ", reason: r}]");
        EXPECT_EQ(checked.at(0).verdict, StatementVerdict::KnownFailure);
        return checked.at(1).verdict;
    };
    EXPECT_EQ(verdicts("20%"), StatementVerdict::Met);
    EXPECT_EQ(verdicts("21%"), StatementVerdict::Met); // within a twentieth of 21, 1.05
    EXPECT_EQ(verdicts("21.1%"), StatementVerdict::Broken);
    EXPECT_EQ(verdicts("19%"), StatementVerdict::Broken);
    const auto met = CheckText(
        "expected: [{class: b, median: 2%}]\n"
        "known: [{class: b, median: 1.6%, reason: r}]");
    EXPECT_EQ(met.at(0).verdict, StatementVerdict::Met);
    EXPECT_EQ(met.at(1).verdict, StatementVerdict::Broken) << "1.5 % is no failure";
    EXPECT_NE(met.at(1).note.find("no failure"), std::string::npos);
    // It excuses no other figure and no guard.
    const auto other = CheckText(
        "expected: [{class: a, median: 15%, mean: 15%}]\n"
        "guard: [{class: a, median: 15%}]\n"
        "known: [{class: a, median: 20%, reason: r}]");
    EXPECT_EQ(other.at(0).verdict, StatementVerdict::Broken);
    EXPECT_EQ(other.at(1).verdict, StatementVerdict::KnownFailure);
    EXPECT_EQ(other.at(2).verdict, StatementVerdict::Broken);
    EXPECT_FALSE(IsMet(other, StatementKind::Expected));
    EXPECT_FALSE(IsMet(other, StatementKind::Guard));
    EXPECT_TRUE(IsMet(other, StatementKind::Known));
    EXPECT_FALSE(AreMet(other));
}

// Cases known to fail are excluded from the expected worst error, and from no other figure.
TEST(SuiteStatement, KnownCasesAreLeftOutOfTheWorst)
{
    const std::string text =
        "expected: [{worst: 15%}]\nguard: [{worst: 40%}]\nknown:\n"
        "  - {case: a3, error: +40%, reason: r}\n";
    EXPECT_EQ(CheckText(text).at(0).verdict, StatementVerdict::Broken) << "a2";
    const auto both = CheckText(text + "  - {case: a2, error: -20%, reason: r}");
    EXPECT_TRUE(AreMet(both));
    EXPECT_DOUBLE_EQ(both.at(0).found, 0.1);
    EXPECT_DOUBLE_EQ(both.at(1).found, 0.4);
    const auto sign = CheckText(text + "  - {case: a2, error: +20%, reason: r}");
    EXPECT_EQ(sign.at(3).verdict, StatementVerdict::Broken);
    const auto nobody = CheckText(text + "  - {case: a4, error: -20%, reason: r}");
    EXPECT_EQ(nobody.at(3).verdict, StatementVerdict::Broken);
    const auto ofClass = CheckText(
        "expected: [{worst: 15%}]\n"
        "known: [{class: a, worst: 40%, reason: r}]");
    EXPECT_TRUE(AreMet(ofClass));
    EXPECT_DOUBLE_EQ(ofClass.at(0).found, 0.02);
    // An expectation whose cases are all known failures is broken.
    const auto all = CheckText(
        "expected: [{class: a, worst: 15%}]\n"
        "known: [{class: a, worst: 40%, reason: r}]");
    EXPECT_EQ(all.at(0).verdict, StatementVerdict::Broken);
}

TEST(SuiteStatement, GuardsAreOfTheirFidelity)
{
    const std::string text =
        "expected: [{worst: 15%}]\n"
        "guard: [{worst: 40%}, {fidelity: flow, worst: 30%}]\n"
        "known: [{class: a, worst: 40%, reason: r}]";
    EXPECT_TRUE(AreMet(CheckText(text)));
    EXPECT_EQ(CheckText(text).size(), 3U);
    const auto flow = CheckText(text, Fidelity::Flow);
    ASSERT_EQ(flow.size(), 2U);
    EXPECT_EQ(flow[0].verdict, StatementVerdict::Met) << "a known failure excuses at every one";
    EXPECT_EQ(flow[1].verdict, StatementVerdict::Broken);
    EXPECT_EQ(CheckText(text, Fidelity::Stream).size(), 1U);
}

TEST(SuiteStatement, SaysWhichOfTheThreeAreMet)
{
    const auto checked = CheckText(
        "expected: [{class: a, mean: 15%}, {worst: 50%}]\n"
        "guard: [{class: b, mean: 1%}, {mean: 15%}]\n"
        "known: [{class: a, mean: 23.3%, reason: as it is}]");
    const std::string brief = ToText(checked, false);
    EXPECT_NE(brief.find("mean of a: as it is\n"), std::string::npos) << brief;
    EXPECT_NE(brief.find("mean of b"), std::string::npos) << brief;
    EXPECT_EQ(brief.find("mean of all"), std::string::npos) << brief;
    EXPECT_NE(brief.find("expected: met but for 1 known failure; guard: 1 of 2 BROKEN; "
                         "known: as stated\n"),
              std::string::npos)
        << brief;
    EXPECT_NE(ToText(checked, true).find("mean of all"), std::string::npos);
    EXPECT_EQ(ToText({}, true), "");
}

} // namespace
} // namespace weir
