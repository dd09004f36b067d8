// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/versions.h"
#include "written-outcomes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace weir
{
namespace
{

/** A suite with a measured step of 2 s, predicted as 3 s. */
SuiteOutcome
AStep()
{
    SuiteOutcome outcome;
    outcome.name = "s";
    outcome.title = "steps";
    outcome.cases = {{"step", {"class a", "class b"}, 2, 3}};
    return outcome;
}

/** A suite with a measured slowdown of 4, predicted as 5. */
SuiteOutcome
ASlowdown()
{
    SuiteOutcome outcome;
    outcome.kind = SuiteKind::Flows;
    outcome.name = "f";
    outcome.cases = {{"slowdown", {}, 4, 5, true}};
    return outcome;
}

TEST(WriteOutcomes, AFileSaysWhoWroteItAndWhatItsSuitesAre)
{
    const WrittenOutcomes file({AStep()});
    EXPECT_EQ(file.Attribute("/", "title"), "steps");
    EXPECT_EQ(file.Attribute("/provenance", "weir_version"), WeirVersion());
    EXPECT_EQ(file.Attribute("/provenance", "ns3_version"), Ns3Version());
    EXPECT_EQ(file.Attribute("/validation/s", "kind"), "steps");
    EXPECT_EQ(file.Texts("/validation/s/class"), std::vector<std::string>{"class a; class b"});
    EXPECT_EQ(file.Column("/validation/s/error"), std::vector<double>{0.5});
    EXPECT_TRUE(file.Has("/validation/s/statements/verdict"));
    EXPECT_FALSE(file.Has("/validation/s/size_bytes"));
    EXPECT_FALSE(file.Has("/validation/s/bounds"));
}

/**
 * In the file as in JSON, times are in seconds and slowdowns are dimensionless; a table of both has
 * a unit per case.
 */
TEST(WriteOutcomes, SlowdownsAreNumbers)
{
    const WrittenOutcomes file({AStep(), ASlowdown()});
    EXPECT_EQ(file.Attribute("/", "title"), "2 suites");
    EXPECT_EQ(file.Attribute("/validation/s/measured", "units"), "s");
    EXPECT_EQ(file.Attribute("/validation/s/measured", "long_name"), "measured time");
    EXPECT_EQ(file.Attribute("/validation/f/measured", "units"), "1");
    EXPECT_EQ(file.Attribute("/validation/f/predicted", "long_name"), "predicted slowdown");
    SuiteOutcome both = AStep();
    both.Add(ASlowdown().cases);
    const WrittenOutcomes mixed({both});
    EXPECT_EQ(mixed.Attribute("/validation/s/measured", "units"), "");
    EXPECT_EQ(mixed.Texts("/validation/s/unit"), (std::vector<std::string>{"s", "1"}));
    EXPECT_EQ(mixed.Column("/validation/s/measured"), (std::vector<double>{2, 4}));
    const auto json = nlohmann::json::parse(ToJson(std::vector<SuiteOutcome>{both}, CaseList::All));
    const auto& rows = json.at("suites").at(0).at("rows");
    EXPECT_EQ(rows.at(0).at("predicted_s"), 3);
    EXPECT_EQ(rows.at(1).at("measured"), 4);
    EXPECT_EQ(rows.at(1).at("predicted"), 5);
    EXPECT_FALSE(rows.at(1).contains("measured_s"));
}

/** References computed by Weir are not called measured. */
TEST(WriteOutcomes, OnlyMeasurementsAreMeasured)
{
    SuiteOutcome outcome = AStep();
    outcome.kind = SuiteKind::Plans;
    EXPECT_EQ(WrittenOutcomes({outcome}).Attribute("/validation/s/measured", "long_name"),
              "reference time");
}

/** A collective of 64 B and a step, each with bounds at two coverages: one row per bound. */
TEST(WriteOutcomes, BoundsOfFreshCasesAreInOneTable)
{
    SuiteOutcome outcome;
    outcome.kind = SuiteKind::Bounds;
    outcome.name = "b";
    const std::vector<ErrorBound> bounds{{0.9, 1.2, 0.8, "stream/ring", "inside", "flow"},
                                         {0.8, 1.5, 0.9, "stream/ring", "inside", "flow"}};
    outcome.bounds.points = {{CalibratedThing::Collectives, 64, 1.1, bounds},
                             {CalibratedThing::Steps, 0, 1.3, bounds}};
    const WrittenOutcomes file({outcome});
    const std::string table = "/validation/b/bounds/";
    EXPECT_EQ(file.Texts(table + "of"),
              (std::vector<std::string>{"collectives", "collectives", "steps", "steps"}));
    EXPECT_EQ(file.Column(table + "ratio"), (std::vector<double>{1.1, 1.1, 1.3, 1.3}));
    EXPECT_EQ(file.Column(table + "coverage"), (std::vector<double>{0.8, 0.9, 0.8, 0.9}));
    EXPECT_EQ(file.Column(table + "upper"), (std::vector<double>{1.2, 1.5, 1.2, 1.5}));
    EXPECT_EQ(file.Column(table + "fresh_case"), (std::vector<double>{0, 0, 1, 1}));
    EXPECT_EQ(file.Column(table + "bytes")[1], 64);
    EXPECT_TRUE(std::isnan(file.Column(table + "bytes")[2])); // a step has no size
}

} // namespace
} // namespace weir
