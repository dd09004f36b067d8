// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/validate.h"

#include "scenarios/yaml/input-error.h"
#include "scratch-folder.h"
#include "small-scenario.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace weir
{
namespace
{

const std::string SOURCES = WEIR_SOURCE_DIR;

/** Reads a suite file with @p cases. */
ValidationSuite
ReadSuiteText(const std::string& cases)
{
    const ScratchFolder folder;
    const std::string path = folder / "suite.yaml";
    std::ofstream(path) << "title: t\ncitation: c\nurl: u\ncases:\n" << cases;
    return LoadSuite(path, Catalog({SOURCES + "/scenarios"}));
}

/** The suites that ctest runs, one test each; see tests/scenarios/CMakeLists.txt. */
std::set<std::string>
RunSuites()
{
    std::set<std::string> names;
    std::istringstream listed(WEIR_SUITES);
    for (std::string name; listed >> name;)
    {
        EXPECT_TRUE(names.insert(name).second) << name;
    }
    return names;
}

// Every suite of the catalog is run by ctest, has cases, states expected figures and guards, and
// guards its number of cases.
TEST(ReadSuite, EveryShippedSuiteIsRunAndStatesWhatItHolds)
{
    const Catalog catalog({SOURCES + "/scenarios"});
    std::set<std::string> shipped;
    for (const auto& entry : catalog.List(CatalogKind::Suites))
    {
        shipped.insert(entry.name);
        const ValidationSuite suite = LoadSuite(entry.name, catalog);
        EXPECT_EQ(suite.name, entry.name);
        EXPECT_EQ(suite.kind, KindOfSuite(entry.name, catalog));
        EXPECT_EQ(suite.cases.empty(), suite.kind != SuiteKind::Steps) << entry.name;
        EXPECT_EQ(suite.collectives.empty(),
                  suite.kind != SuiteKind::Collectives && suite.kind != SuiteKind::LeftOut)
            << entry.name;
        EXPECT_EQ(suite.kernels.kernels.empty(), suite.kind != SuiteKind::Kernels) << entry.name;
        const auto states = [&](const auto& property) {
            return std::any_of(suite.statements.begin(), suite.statements.end(), property);
        };
        EXPECT_TRUE(states([](const SuiteStatement& each) {
            return each.kind == StatementKind::Expected;
        })) << entry.name;
        EXPECT_TRUE(states([](const SuiteStatement& each) {
            return each.kind == StatementKind::Guard && each.figure == ErrorFigure::Cases;
        })) << entry.name;
    }
    EXPECT_EQ(shipped, RunSuites());
}

TEST(ReadSuite, ReadsMeasuredFigures)
{
    const auto suite = ReadSuiteText(
        "  - {name: n, run: gpt-22b-8-a100-full, measured: {step_time_s: 1.42}}\n"
        "expected: [{worst: 7.5%}]\n");
    ASSERT_EQ(suite.cases.size(), 1U);
    EXPECT_EQ(suite.cases.front().measuredStep, 1.42);
    EXPECT_EQ(suite.cases.front().classes, std::vector<std::string>{"class all"});
    ASSERT_EQ(suite.statements.size(), 1U);
    EXPECT_DOUBLE_EQ(suite.statements.front().stated, 0.075);
}

// As in the catalog a suite in NAME/suite.yaml is named NAME; else its file has its name.
TEST(ReadSuite, IsNamedAsItsFolderOrItsFile)
{
    const ScratchFolder folder;
    const auto nameOf = [&](const std::string& path) {
        std::ofstream(folder / path)
            << "title: t\ncitation: c\nurl: u\ncases: [{name: n, run: gpt-22b-8-a100-full, "
               "measured: {step_time_s: 1}}]\n";
        return LoadSuite(folder / path, Catalog({SOURCES + "/scenarios"})).name;
    };
    std::filesystem::create_directory(folder / "alps");
    EXPECT_EQ(nameOf("alps/suite.yaml"), "alps");
    EXPECT_EQ(nameOf("alps/first.yaml"), "first");
    const auto former = std::filesystem::current_path();
    std::filesystem::current_path(folder / "alps");
    EXPECT_EQ(LoadSuite("suite.yaml", Catalog({SOURCES + "/scenarios"})).name, "alps");
    EXPECT_EQ(LoadSuite("./suite.yaml", Catalog({SOURCES + "/scenarios"})).name, "alps");
    EXPECT_EQ(LoadSuite("first.yaml", Catalog({SOURCES + "/scenarios"})).name, "first");
    std::filesystem::current_path(former);
}

TEST(ReadSuite, RefusesWhatItCannotHold)
{
    const std::string run = "name: n, run: gpt-22b-8-a100-full, ";
    for (const std::string& text : {
             run + "measured: {step_time_s: 0}",
             run + "measured: {step_time: 1}",
             run + "tolerance: 10%",
             std::string("name: n, run: no-such-run, measured: {step_time_s: 1}"),
         })
    {
        EXPECT_THROW(ReadSuiteText("  - {" + text + "}\n"), InputError) << text;
    }
}

SuiteOutcome
OutcomeOf(const ValidationSuite& suite)
{
    return RunSuite(
        suite,
        Catalog({SOURCES + "/scenarios"}),
        [](Fidelity) { return std::make_unique<PlainLoop>(); },
        [](const SuiteProgress&) {});
}

/** A run compared with its own step time and with half of it: errors of 0 and +100 %. */
struct TwoCases : testing::Test
{
    TwoCases()
    {
        const Scenario scenario = SmallScenario();
        const double step = RunScenario(scenario).StepTime().ToSeconds();
        suite.name = "s";
        suite.title = "t";
        suite.cases = {{"same", {"class a"}, scenario, step},
                       {"half", {"class b"}, scenario, step / 2}};
        suite.statements =
            ReadStatements(YamlNode::Parse("expected: [{class: class a, worst: 0%}]\n"
                                           "guard: [{worst: 50%}]\n",
                                           "suite"));
    }

    ValidationSuite suite;
};

TEST_F(TwoCases, ErrorIsRelativeToTheMeasurement)
{
    const auto outcome = OutcomeOf(suite);
    ASSERT_EQ(outcome.cases.size(), 2U);
    EXPECT_EQ(outcome.cases[0].Error(), 0);
    EXPECT_NEAR(outcome.cases[1].Error(), 1, 1e-12);
    EXPECT_TRUE(IsMet(outcome.statements, StatementKind::Expected));
    EXPECT_FALSE(IsMet(outcome.statements, StatementKind::Guard));
    const std::string text = ToText(outcome);
    EXPECT_NE(text.find("+100.0 %"), std::string::npos) << text;
    EXPECT_NE(text.find("class b"), std::string::npos) << text;
    EXPECT_NE(text.find("expected: met (1 figure); guard: 1 of 1 BROKEN"), std::string::npos)
        << text;
}

TEST_F(TwoCases, JsonSaysWhatTheTextSays)
{
    const auto json =
        nlohmann::json::parse(ToJson(std::vector<SuiteOutcome>{OutcomeOf(suite)}, CaseList::All));
    EXPECT_EQ(json.at("met"), false);
    const auto& one = json.at("suites").at(0);
    EXPECT_EQ(one.at("name"), "s");
    EXPECT_EQ(one.at("met"),
              (nlohmann::json{{"expected", true}, {"guard", false}, {"known", true}}));
    EXPECT_EQ(one.at("expected").at(0).at("verdict"), "met");
    EXPECT_EQ(one.at("guard").at(0).at("verdict"), "broken");
    EXPECT_NEAR(one.at("guard").at(0).at("found"), 1, 1e-12);
    EXPECT_EQ(one.at("errors").size(), 3U); // class a, class b, all
    EXPECT_EQ(one.at("errors").at(2).at("cases"), 2);
    EXPECT_EQ(one.at("rows").size(), 2U);
    EXPECT_FALSE(nlohmann::json::parse(ToJson(std::vector<SuiteOutcome>{OutcomeOf(suite)}))
                     .at("suites")
                     .at(0)
                     .contains("rows"));
}

/** A group contains the cases of its members only, with their suites as classes. */
TEST_F(TwoCases, AGroupGathersItsMembers)
{
    ValidationSuite group;
    group.kind = SuiteKind::Group;
    group.name = "g";
    group.members = SuiteKind::Steps;
    group.statements = ReadStatements(
        YamlNode::Parse("guard: [{class: suite s, cases: 2, mean: 50%}, {cases: 2}]", "suite"));
    SuiteOutcome other = OutcomeOf(suite);
    other.kind = SuiteKind::Kernels;
    const auto all = Gather(group, {OutcomeOf(suite), other});
    ASSERT_EQ(all.cases.size(), 2U);
    EXPECT_EQ(all.cases[0].classes, std::vector<std::string>{"suite s"});
    EXPECT_TRUE(AreMet(all.statements));
    EXPECT_THROW(OutcomeOf(group), std::invalid_argument);
}

} // namespace
} // namespace weir
