// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-plan.h"
#include "scenarios/simulation/run-scenario.h"

#include "refusal.h"
#include "small-scenario.h"

#include <gtest/gtest.h>

#include <string>

namespace weir
{
namespace
{

TensorGrid
Read(const std::string& text)
{
    return ReadPlan(YamlNode::Parse(text, "plan.yaml")).grid;
}

// 16 ranks: one row is no grid, a square has one layer, and 2-D is 2.5-D with depth one.
TEST(TensorShape, RowSquareOrLayers)
{
    EXPECT_EQ(Read("tensor: 16").side, 0U);
    EXPECT_EQ(Read("{tensor: 16, tensorShape: [16]}").side, 0U);
    for (const std::string shape : {"[4, 4]", "[4, 4, 1]"})
    {
        EXPECT_EQ(Read("{tensor: 16, tensorShape: " + shape + "}").side, 4U);
        EXPECT_EQ(Read("{tensor: 16, tensorShape: " + shape + "}").depth, 1U);
    }
    EXPECT_EQ(Read("{tensor: 16, tensorShape: [2, 2, 4]}").side, 2U);
    EXPECT_EQ(Read("{tensor: 16, tensorShape: [2, 2, 4]}").depth, 4U);
}

TEST(TensorShape, RefusesWithItsLocation)
{
    EXPECT_EQ(RefusalOf([] { Read("{tensor: 8, tensorShape: [4, 2]}"); }),
              "plan.yaml:1:26: tensorShape: found 4 x 2, expected a square: [q, q] or [q, q, d]");
    EXPECT_EQ(RefusalOf([] { Read("{tensor: 8, tensorShape: [4]}"); }),
              "plan.yaml:1:26: tensorShape: found [4], expected [8], the value of tensor");
    EXPECT_EQ(RefusalOf([] { Read("{tensor: 8, tensorShape: [2, 2, 2, 1]}"); }),
              "plan.yaml:1:26: tensorShape: found 4 extents, expected [tensor], [q, q] or [q, q, "
              "d]");
    EXPECT_EQ(RefusalOf([] { Read("{tensor: 8, tensorShape: [2, 2, 0]}"); }),
              "plan.yaml:1:33: tensorShape.2: found '0', expected a whole number from 1 to 65535");
    EXPECT_EQ(RefusalOf([] {
                  SmallScenario({{"jobs.0.parallel.tensorShape", "[2, 2, 3]"}});
              }),
              "--set jobs.0.parallel.tensorShape=[2, 2, 3]: jobs.0.parallel.tensorShape: found "
              "[2, 2, 3], expected [q, q, d] with q * q * d = tensor = 8");
}

Scenario
RoundUpToGrid(const std::string& shape, const std::string& fidelity)
{
    return SmallScenario({{"jobs.0.parallel.tensorShape", shape},
                          {"jobs.0.parallel.microBatch", "8"},
                          {"jobs.0.parallel.globalBatch", "16"},
                          {"jobs.0.model.layers", "2"},
                          {"jobs.0.steps", "1"},
                          {"network.fidelity", fidelity}});
}

// The three fidelities execute the same program with the same plan of every collective. They agree
// up to chunks in `flow` and to links that rows and columns share concurrently, here 0.1 %.
TEST(TensorShape, FidelitiesAgree)
{
    const double reference = RunScenario(RoundUpToGrid("[2, 2, 2]", "flow")).StepTime().ToSeconds();
    for (const std::string fidelity : {"analytical", "stream"})
    {
        const RunResult result = RunScenario(RoundUpToGrid("[2, 2, 2]", fidelity));
        EXPECT_NEAR(result.StepTime().ToSeconds() / reference, 1, 1e-3) << fidelity;
        EXPECT_TRUE(result.waiting.empty());
    }
}

} // namespace
} // namespace weir
