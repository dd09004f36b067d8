// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/read-suite.h"

#include "scenarios/yaml/input-error.h"
#include "scratch-folder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

namespace weir
{
namespace
{

/** The cases of a suite whose table has @p rows below its default columns. */
std::vector<ValidationCase>
ReadRows(const std::string& rows,
         const std::string& classes = "[tensor]",
         const std::string& header = "case,layers,tensor,seconds\n")
{
    const ScratchFolder folder;
    std::ofstream(folder / "steps.csv") << header << rows;
    const std::string path = folder / "suite.yaml";
    std::ofstream(path) << "table: steps.csv\nmeasured: seconds\nclasses: " << classes << R"(
run:
  system: {base: hgx-h100, nodes: 1}
  jobs:
    - name: gpt
      model: {base: gpt-1.7b}
      parallel: {tensor: 2, globalBatch: 8}
columns: {layers: jobs.0.model.layers, tensor: jobs.0.parallel.tensor}
)";
    const Catalog catalog({std::string(WEIR_SOURCE_DIR) + "/scenarios"});
    return ReadStepTable(YamlNode::Load(path), catalog);
}

/** Cells override the keys in `columns`; an empty cell keeps the value of `run`. */
TEST(StepTable, PutsCellsIntoTheScenario)
{
    const auto cases = ReadRows("a,12,4,0.5\n# remark\nb,,,0.25\n");
    ASSERT_EQ(cases.size(), 2U);
    EXPECT_EQ(cases[0].name, "a");
    EXPECT_EQ(cases[0].measuredStep, 0.5);
    EXPECT_EQ(cases[0].classes, std::vector<std::string>{"tensor 4"});
    EXPECT_EQ(std::get<Transformer>(cases[0].scenario.jobs[0].network).layers, 12U);
    EXPECT_EQ(cases[0].scenario.jobs[0].plan.tensor, 4U);
    EXPECT_EQ(std::get<Transformer>(cases[1].scenario.jobs[0].network).layers, 24U);
    EXPECT_EQ(cases[1].scenario.jobs[0].plan.tensor, 2U);
}

/** An invalid row is reported with its line in the table. */
TEST(StepTable, RefusesWithTheLine)
{
    for (const std::string row :
         {"a,12,4\n", "a,12,4,0\n", "a,12,4,x\n", "a,12,0,1\n", "a,x,4,1\n"})
    {
        try
        {
            ReadRows("first,12,2,1\n" + row);
            ADD_FAILURE() << row;
        }
        catch (const InputError& error)
        {
            EXPECT_NE(std::string(error.what()).find("steps.csv:3"), std::string::npos)
                << error.what();
        }
    }
    EXPECT_THROW(ReadRows("a,12,2,1\n", "[pipeline]"), InputError);
    EXPECT_THROW(ReadRows("a,12,2,1\n", "[tensor]", "name,layers,tensor,seconds\n"), InputError);
}

} // namespace
} // namespace weir
