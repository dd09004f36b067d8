// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-layer-table.h"
#include "scenarios/readers/read-scenario.h"
#include "scenarios/writers/write-scenario.h"
#include "tests/scenarios/refusal.h"
#include "tests/scenarios/scratch-folder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace weir
{
namespace
{

std::string
RunOf(const std::string& model, const std::string& plan)
{
    return "system: {base: hgx-h100, nodes: 1}\njobs:\n  - name: job\n    model: " + model +
           "\n    parallel: " + plan + "\n";
}

std::string
ModelOf(const std::string& embeddings, const std::string& network)
{
    return "{name: net, source: mine, input: [13, 1, 1], embeddings: " + embeddings +
           ", network: " + network + "}";
}

Scenario
Read(const std::string& text)
{
    return ReadScenario(YamlNode::Parse(text, "run.yaml"), Catalog());
}

std::string
Refusal(const std::string& text)
{
    return RefusalOf([&] { Read(text); });
}

const char* const NETWORK = "[{linear: 16}, relu, embeddings, dot, {linear: 1}, loss]";

// MLPerf's tables have 204184588 rows of 128 elements in total, 26.1 billion parameters, and 214
// look-ups per sample. Three cross layers of rank 512 act on 27 x 128 elements; the MLPs are
// 13-512-256-128 and 3456-1024-1024-512-256-1 with biases.
TEST(ReadEmbeddings, MlperfsModelHasItsFigures)
{
    const LayerTable table = ReadLayerTable(YamlNode::Parse("dlrm-dcnv2", "NAME"), Catalog());
    EXPECT_EQ(table.embeddings.size(), 26U);
    EXPECT_EQ(table.EmbeddingParameters(), 204184588.0 * 128);
    uint32_t lookups = 0;
    for (const EmbeddingTable& one : table.embeddings)
    {
        lookups += one.pooling;
    }
    EXPECT_EQ(lookups, 214U);
    const double width = 27 * 128;
    const double bottom = 14 * 512.0 + 513 * 256.0 + 257 * 128.0;
    const double top = (width + 1) * 1024 + 1025 * 1024.0 + 1025 * 512.0 + 513 * 256.0 + 257;
    EXPECT_EQ(table.Parameters(), bottom + top + 3 * width * (2 * 512 + 1));
}

LayerTable
TableOf(const Scenario& scenario)
{
    return std::get<LayerTable>(scenario.jobs[0].network);
}

// Keys beside `tables` are the defaults of a table; `times` repeats it.
TEST(ReadEmbeddings, TablesTakeDefaults)
{
    const LayerTable table = TableOf(Read(RunOf(
        ModelOf(
            "{dim: 16, zipf: 1.2, tables: [{rows: 100, times: 3}, {rows: 7, zipf: 0, pooling: 5}]}",
            NETWORK),
        "{data: 4, globalBatch: 4}")));
    ASSERT_EQ(table.embeddings.size(), 4U);
    EXPECT_EQ(table.embeddings[2].zipf, 1.2);
    EXPECT_EQ(table.embeddings[2].pooling, 1U);
    EXPECT_EQ(table.embeddings[3].zipf, 0);
    EXPECT_EQ(table.embeddings[3].pooling, 5U);
}

// The indices of a file give classes of rows with equal frequency: 4 occurs twice, 2 and 9 once.
TEST(ReadEmbeddings, IndicesComeFromAFile)
{
    const ScratchFolder folder;
    std::ofstream(folder / "indices.txt") << "4\n2\n4\n9\n";
    std::ofstream(folder / "run.yaml")
        << RunOf(ModelOf("{dim: 16, tables: [{rows: 100, indices: indices.txt}]}", NETWORK),
                 "{globalBatch: 1}");
    const auto classes =
        TableOf(LoadScenario(folder / "run.yaml", {}, Catalog())).embeddings[0].classes;
    ASSERT_EQ(classes.size(), 2U);
    EXPECT_EQ(classes[0].rows, 2);
    EXPECT_EQ(classes[0].probability, 0.25);
    EXPECT_EQ(classes[1].probability, 0.5);
    EXPECT_EQ(TableOf(LoadScenario(folder / "run.yaml", {}, Catalog())).embeddings[0].observed, 4);
}

// An index is a row number below the number of rows. Absolute paths are used unchanged.
TEST(ReadEmbeddings, IndicesAreBelowTheTablesRows)
{
    const ScratchFolder folder;
    const std::string list = folder / "indices.txt";
    std::ofstream(list) << "4\n99\n100\n";
    const auto refusal = [&](const char* rows) {
        const std::string model =
            std::string("{dim: 16, tables: [{rows: ") + rows + ", indices: " + list + "}]}";
        const std::string path = folder / "run.yaml";
        std::ofstream(path) << RunOf(ModelOf(model, NETWORK), "{globalBatch: 1}");
        return RefusalOf([&] { LoadScenario(path, {}, Catalog()); });
    };
    EXPECT_EQ(refusal("101"), "");
    EXPECT_NE(refusal("100").find("indices.txt:3"), std::string::npos) << refusal("100");
    EXPECT_NE(refusal("100").find("0 to 99"), std::string::npos) << refusal("100");
}

// A written run reads back unchanged.
TEST(ReadEmbeddings, RunsReadBackEqual)
{
    for (const std::string& text :
         {RunOf("dlrm-dcnv2",
                "{data: 8, globalBatch: 8, embeddings: {placement: rows, optimizer: sgd}}"),
          RunOf("dlrm-criteo",
                "{data: 8, globalBatch: 8, embeddings: {splitAbove: 1GiB, balance: size, "
                "exchangeIndices: false, optimizer: adagrad}}"),
          RunOf(ModelOf("{dim: 16, tables: [{rows: 100, classes: [[10, 0.75], [90, 0.25]]}]}",
                        NETWORK),
                "{globalBatch: 1}"),
          RunOf(ModelOf("{dim: 16, tables: [{rows: 9, classes: [[1, 2], [2, 2]], classesOf: 4}]}",
                        NETWORK),
                "{globalBatch: 1}")})
    {
        const Scenario scenario = Read(text);
        const std::string dump = DumpScenario(scenario);
        const Scenario again = Read(dump);
        EXPECT_EQ(DumpScenario(again), dump);
        EXPECT_EQ(TableOf(again).Parameters(), TableOf(scenario).Parameters());
        EXPECT_EQ(TableOf(again).embeddings[0].observed, TableOf(scenario).embeddings[0].observed);
        EXPECT_EQ(TableOf(again).EmbeddingParameters(), TableOf(scenario).EmbeddingParameters());
        EXPECT_EQ(again.jobs[0].plan.embeddings.splitAbove,
                  scenario.jobs[0].plan.embeddings.splitAbove);
    }
}

TEST(ReadEmbeddings, RefusesWithLocationFoundAndExpected)
{
    const std::string plan = "{globalBatch: 1}";
    EXPECT_EQ(Refusal(RunOf("dlrm-criteo", "{data: 32, globalBatch: 32}")),
              "run.yaml:5:22: jobs.0.parallel.data: found 32, expected at most the 26 embedding "
              "tables of dlrm-criteo, or embeddings split by rows or columns");
    EXPECT_EQ(
        Refusal(RunOf(ModelOf("{tables: [{rows: 100}]}", NETWORK), plan)),
        "run.yaml:4:79: jobs.0.model.embeddings.tables.0.dim: found nothing, expected a value "
        "for 'dim'");
    EXPECT_NE(Refusal(RunOf(ModelOf("{dim: 16, tables: [{pooling: 1}]}", NETWORK), plan))
                  .find("tables.0.rows: found nothing, expected a value for 'rows'"),
              std::string::npos);
    EXPECT_NE(Refusal(RunOf(ModelOf("{dim: 16, tables: []}", NETWORK), plan))
                  .find("found 0 tables, expected 1 to"),
              std::string::npos);
    EXPECT_NE(
        Refusal(RunOf(ModelOf("{dim: 16, tables: [{rows: 9}]}", "[{linear: 16}, loss]"), plan))
            .find(
                "found 0 entries 'embeddings', expected one, where their outputs join the layers"),
        std::string::npos);
    EXPECT_NE(Refusal(RunOf("{name: net, source: mine, input: [13, 1, 1], network: [{linear: 16}, "
                            "embeddings]}",
                            plan))
                  .find("found 0 tables after 1 vectors, expected at least one table"),
              std::string::npos);
    // Interacting vectors have equal widths.
    EXPECT_NE(Refusal(RunOf(ModelOf("{dim: 8, tables: [{rows: 9}]}", NETWORK), plan))
                  .find("dot interaction: found 1 vector, expected several of equal width"),
              std::string::npos);
    EXPECT_NE(
        Refusal(RunOf(ModelOf("{dim: 16, tables: [{rows: 9, classes: [[10, 1]]}]}", NETWORK), plan))
            .find("at most the table's 9"),
        std::string::npos);
    EXPECT_NE(Refusal(RunOf(ModelOf("{dim: 16, tables: [{rows: 100, classes: [[10, 0.25], [90, "
                                    "0.25]]}]}",
                                    NETWORK),
                            plan))
                  .find("found shares of the look-ups that sum to 0.5, expected 1"),
              std::string::npos);
    EXPECT_NE(Refusal(RunOf(ModelOf("{dim: 16, tables: [{rows: 100, classes: [[10, 3], [90, 1]], "
                                    "classesOf: 40}]}",
                                    NETWORK),
                            plan))
                  .find("classesOf: found 40, with which a row occurs 0.111111 times "
                        "in 40 look-ups"),
              std::string::npos);
    EXPECT_NE(Refusal(RunOf("dlrm-criteo", "{globalBatch: 1, embeddings: {placement: row}}"))
                  .find("expected one of: tables, rows"),
              std::string::npos);
}

} // namespace
} // namespace weir
