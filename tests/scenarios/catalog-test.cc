// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/catalog.h"

#include "refusal.h"
#include "scenarios/readers/read-gpu.h"
#include "scenarios/readers/read-layer-table.h"
#include "scenarios/readers/read-model.h"
#include "scenarios/readers/read-plan.h"
#include "scenarios/readers/read-scenario.h"
#include "scenarios/readers/read-system.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace weir
{
namespace
{

namespace fs = std::filesystem;

YamlNode
Name(const std::string& name)
{
    return YamlNode::Parse(name, "NAME");
}

/** A data folder, removed after the test. */
class DataFolder : public testing::Test
{
  protected:
    void SetUp() override
    {
        m_folder = fs::temp_directory_path() /
                   ("weir-catalog-" +
                    std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
        fs::remove_all(m_folder);
    }

    void TearDown() override
    {
        fs::remove_all(m_folder);
    }

    std::string Write(const std::string& name, const std::string& text)
    {
        const fs::path path = m_folder / name;
        fs::create_directories(path.parent_path());
        std::ofstream(path) << text;
        return path.string();
    }

    fs::path m_folder;
};

/** Number of descriptions of a kind in the source tree. */
std::size_t
Shipped(CatalogKind kind)
{
    const fs::path root = WEIR_SOURCE_DIR;
    const bool isSuite = kind == CatalogKind::Suites;
    const fs::path folder = isSuite ? root / "validation" : root / "scenarios" / ToString(kind);
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder))
    {
        count +=
            isSuite ? fs::exists(entry.path() / "suite.yaml") : entry.path().extension() == ".yaml";
    }
    return count;
}

TEST(Catalog, EveryShippedDescriptionReads)
{
    const Catalog catalog;
    for (const CatalogEntry& entry : catalog.List(CatalogKind::Systems))
    {
        EXPECT_NE(entry.title, "") << entry.path;
        EXPECT_EQ(ReadSystem(Name(entry.name), catalog).cluster.name, entry.name);
    }
    for (const CatalogEntry& entry : catalog.List(CatalogKind::Models))
    {
        EXPECT_NE(entry.title, "") << entry.path;
        const std::string name = IsLayerTable(Name(entry.name), catalog)
                                     ? ReadLayerTable(Name(entry.name), catalog).name
                                     : ReadModel(Name(entry.name), catalog).name;
        EXPECT_EQ(name, entry.name);
    }
    for (const CatalogEntry& entry : catalog.List(CatalogKind::Runs))
    {
        EXPECT_NE(entry.title, "") << entry.path;
        EXPECT_EQ(LoadScenario(entry.name, {}, catalog).path, entry.path);
    }
    for (const CatalogEntry& entry : catalog.List(CatalogKind::Gpus))
    {
        EXPECT_EQ(LoadGpu(entry.path).name, entry.name);
    }
    for (const CatalogEntry& entry : catalog.List(CatalogKind::Frameworks))
    {
        EXPECT_NE(entry.title, "") << entry.path;
        EXPECT_NO_THROW(ReadFramework(Name(entry.name), catalog));
    }
    for (const CatalogKind kind : {CatalogKind::Systems,
                                   CatalogKind::Models,
                                   CatalogKind::Runs,
                                   CatalogKind::Gpus,
                                   CatalogKind::Frameworks,
                                   CatalogKind::Suites})
    {
        EXPECT_GE(catalog.List(kind).size(), 12u) << ToString(kind);
        EXPECT_EQ(catalog.List(kind).size(), Shipped(kind)) << ToString(kind);
    }
}

TEST(Catalog, ModelsHaveTheParametersOfTheirNames)
{
    // Names are rounded: "gpt-70b" of Echo's table 9 has 64.9e9 (12 x 80 x 8192^2 + 51200 x 8192).
    const Catalog catalog;
    std::size_t named = 0;
    for (const CatalogEntry& entry : catalog.List(CatalogKind::Models))
    {
        const std::size_t dash = entry.name.rfind('-');
        const std::size_t end = entry.name.find_first_not_of(".0123456789", dash + 1);
        const std::string unit = end == std::string::npos ? "" : entry.name.substr(end);
        if (unit != "b" && unit != "t")
        {
            continue; // the name has no number of parameters
        }
        named++;
        const double scale = entry.name.back() == 't' ? 1e12 : 1e9;
        const double rounded = std::atof(entry.name.c_str() + dash + 1) * scale;
        const double counted = ReadModel(Name(entry.name), catalog).Parameters();
        EXPECT_NEAR(counted / rounded, 1, 0.15) << entry.name;
    }
    EXPECT_GE(named, 20u);
}

TEST(Catalog, GptModelsHaveTheParametersOfTheirPaper)
{
    // Narayanan et al. 2021, equation 2: 12 l h^2 (1 + 13 / (12 h) + (v + s) / (12 l h)), which
    // omits the final norm (2 h).
    const Catalog catalog;
    for (const char* name : {"gpt-1.7b", "gpt-22b", "gpt-175b", "gpt-1t"})
    {
        const Transformer model = ReadModel(Name(name), catalog);
        const double h = model.hidden;
        const double l = model.layers;
        const double formula =
            12 * l * h * h *
            (1 + 13 / (12 * h) + (model.vocabulary + model.sequence) / (12 * l * h));
        EXPECT_NEAR(model.Parameters(), formula + 2 * h, 1e-9 * formula) << name;
    }
}

TEST(Catalog, ListsByName)
{
    const auto entries = Catalog().List(CatalogKind::Gpus);
    ASSERT_GE(entries.size(), 2u);
    for (std::size_t i = 1; i < entries.size(); ++i)
    {
        EXPECT_LT(entries[i - 1].name, entries[i].name);
    }
}

TEST_F(DataFolder, EarlierFoldersComeFirstAndBadFilesAreListed)
{
    Write("first/models/tiny.yaml", "title: of the first\n");
    Write("second/models/tiny.yaml", "title: of the second\n");
    Write("second/models/bad.yaml", "title: [\n");
    Write("second/models/notes.txt", "not YAML\n");
    Write("second/validation/paper/suite.yaml", "title: a paper's\n");
    const Catalog catalog({(m_folder / "first").string(), (m_folder / "second").string()});
    const auto models = catalog.List(CatalogKind::Models);
    ASSERT_EQ(models.size(), 2u);
    EXPECT_EQ(models[0].name, "bad");
    EXPECT_EQ(models[0].title.rfind("(cannot be read: ", 0), 0u);
    EXPECT_EQ(models[1].name, "tiny");
    EXPECT_EQ(models[1].title, "of the first");
    const auto suites = catalog.List(CatalogKind::Suites);
    ASSERT_EQ(suites.size(), 1u);
    EXPECT_EQ(suites[0].name, "paper");
    EXPECT_EQ(suites[0].title, "a paper's");
}

TEST_F(DataFolder, PathsAreFoundBesideTheFileThatNamesThem)
{
    const std::string model = Write("mine/tiny.yaml",
                                    "{name: tiny, layers: 2, hidden: 64, heads: 4, sequence: 8, "
                                    "vocabulary: 128, source: made up}\n");
    Write("mine/wide.yaml", "{base: tiny.yaml, name: wide, hidden: 128}\n");
    const Catalog catalog;
    EXPECT_EQ(ReadModel(Name(model), catalog).hidden, 64u);
    const Transformer wide = ReadModel(Name((m_folder / "mine/wide.yaml").string()), catalog);
    EXPECT_EQ(wide.hidden, 128u);
    EXPECT_EQ(wide.layers, 2u);
    EXPECT_EQ(wide.headDim, 32u); // hidden / heads
    EXPECT_EQ(wide.ffn, 512u);    // 4 hidden
}

TEST_F(DataFolder, RefusesBasesThatLeadBack)
{
    const std::string a = Write("a.yaml", "base: b.yaml\n");
    const std::string b = Write("b.yaml", "name: b\nbase: a.yaml\n");
    EXPECT_EQ(RefusalOf([&] { ReadModel(Name(a), Catalog()); }),
              b + ":2:7: base: found 'a.yaml', which is based on itself, expected bases without a "
                  "cycle");
}

TEST(Catalog, RefusesWhatThereIsNot)
{
    const Catalog catalog;
    const std::string unknown = RefusalOf([&] { catalog.Find(CatalogKind::Systems, "hgx-h80"); });
    std::string names;
    for (const CatalogEntry& entry : catalog.List(CatalogKind::Systems))
    {
        names += (names.empty() ? "" : ", ") + entry.name;
    }
    EXPECT_EQ(unknown,
              "found the unknown system 'hgx-h80', expected a file or one of: " + names +
                  " (did you mean 'hgx-h800'?)");
    EXPECT_EQ(RefusalOf([&] { LoadScenario("no/such.yaml", {}, catalog); }),
              "found no file 'no/such.yaml', expected a run's name or file");
    EXPECT_EQ(RefusalOf([&] { ReadModel(Name("mine.yaml"), catalog); }),
              "NAME:1:1: found no file 'mine.yaml', expected a model's name or file");
}

} // namespace
} // namespace weir
