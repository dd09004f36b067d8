// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/validate.h"

#include "scenarios/yaml/input-error.h"
#include "scratch-folder.h"
#include "small-scenario.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

const std::string SOURCES = WEIR_SOURCE_DIR;

/** The suite file @p cases makes, read. */
ValidationSuite
ReadSuiteText(const std::string& cases)
{
    const ScratchFolder folder;
    const std::string path = folder / "suite.yaml";
    std::ofstream(path) << "title: t\ncitation: c\nurl: u\ncases:\n" << cases;
    return LoadSuite(path, Catalog({SOURCES + "/scenarios"}));
}

TEST(ReadSuite, ReadsEveryShippedSuite)
{
    const Catalog catalog({SOURCES + "/scenarios"});
    const auto entries = catalog.List(CatalogKind::Suites);
    ASSERT_FALSE(entries.empty());
    for (const auto& entry : entries)
    {
        const ValidationSuite suite = LoadSuite(entry.name, catalog);
        EXPECT_EQ(suite.name, entry.name);
        EXPECT_FALSE(suite.cases.empty() && suite.collectives.empty() &&
                     suite.kernels.kernels.empty());
    }
}

/** Suites that take no time hold; the others are for the command. */
TEST(Validate, QuickSuitesStayWithinTheirLimits)
{
    const Catalog catalog({SOURCES + "/scenarios"});
    for (const char* name : {"zero-bubble-2023", "internevo-2023", "h200-kernels"})
    {
        const SuiteOutcome outcome = RunSuite(
            LoadSuite(name, catalog),
            [](Fidelity) { return std::make_unique<PlainLoop>(); },
            [](const SuiteProgress&) {});
        EXPECT_TRUE(outcome.meanError) << name;
        EXPECT_TRUE(outcome.IsWithinTolerance()) << ToText(outcome);
    }
}

TEST(ReadSuite, ReadsMeasuredFiguresAndTolerances)
{
    const auto suite = ReadSuiteText(
        "  - {name: n, run: gpt-22b-8-a100-full, measured: {step_time_s: 1.42}, "
        "tolerance: 7.5%}\n");
    ASSERT_EQ(suite.cases.size(), 1U);
    EXPECT_EQ(suite.cases.front().measuredStep, 1.42);
    EXPECT_DOUBLE_EQ(suite.cases.front().tolerance, 0.075);
    EXPECT_EQ(suite.cases.front().classes, std::vector<std::string>{"class all"});
}

TEST(ReadSuite, RefusesWhatItCannotHold)
{
    const std::string run = "name: n, run: gpt-22b-8-a100-full, ";
    for (const std::string& text : {
             run + "measured: {step_time_s: 1.42}, tolerance: 10",
             run + "measured: {step_time_s: 1.42}, tolerance: 0%",
             run + "measured: {step_time_s: 0}, tolerance: 10%",
             run + "measured: {step_time: 1}, tolerance: 10%",
             run + "tolerance: 10%",
             std::string("name: n, run: no-such-run, measured: {step_time_s: 1}, tolerance: 10%"),
         })
    {
        EXPECT_THROW(ReadSuiteText("  - {" + text + "}\n"), InputError) << text;
    }
}

/** A run against its own step time has no error; against half of it, +100 %. */
TEST(Validate, ErrorIsRelativeToTheMeasurement)
{
    const Scenario scenario = SmallScenario();
    PlainLoop plain;
    const double step = RunScenario(scenario, plain, [](Time) {}).StepTime().ToSeconds();
    const ValidationSuite suite{"s",
                                "t",
                                "c",
                                "u",
                                {{"same", {"class a"}, scenario, step, 0.01},
                                 {"half", {"class b"}, scenario, step / 2, 0.1}}};
    const auto outcome = RunSuite(
        suite, [](Fidelity) { return std::make_unique<PlainLoop>(); }, [](const SuiteProgress&) {});
    EXPECT_NEAR(outcome.cases[0].Error(), 0, 1e-12);
    EXPECT_TRUE(outcome.cases[0].IsWithinTolerance());
    EXPECT_NEAR(outcome.cases[1].Error(), 1, 1e-12);
    EXPECT_FALSE(outcome.cases[1].IsWithinTolerance());
    EXPECT_FALSE(outcome.IsWithinTolerance());
    const std::string text = ToText(outcome);
    EXPECT_NE(text.find("+100.0 %"), std::string::npos) << text;
    EXPECT_NE(text.find("class b"), std::string::npos) << text;

    const ScratchFolder folder;
    Hdf5File file(folder / "v.h5", "-o");
    WriteOutcomes(file, {outcome});
    file.Commit();
    EXPECT_EQ(folder.Files(), 1U);
}

/** A run that never ends is never within tolerance. */
TEST(Validate, ARunWithoutAStepFails)
{
    const CaseOutcome outcome{"n", {"a"}, 1, Time::Infinite().ToSeconds(), 1};
    EXPECT_FALSE(outcome.IsWithinTolerance());
}

} // namespace
} // namespace weir
