// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/hdf5-table.h"

#include "scenarios/yaml/input-error.h"
#include "scratch-folder.h"

#include <gtest/gtest.h>
#include <hdf5_hl.h>

namespace weir
{
namespace
{

const ColumnInfo TIME{"time", "s", "a time", ""};

void
WriteNumbers(const std::string& path, int rows)
{
    Hdf5File file(path, "-o");
    Hdf5RowTable<int> table(file, "/numbers", "row");
    table.Add(TIME, [](int i) { return i * 0.25; });
    table.Add({"count", "1", "a count", ""}, [](int i) { return -int64_t{i}; });
    for (int i = 0; i < rows; i++)
    {
        table.Append(i);
    }
    table.Finish();
    file.Commit();
}

std::string
ReadTextAttribute(hid_t file, const char* object, const char* name)
{
    char* text = nullptr;
    Hdf5Handle attribute(H5Aopen_by_name(file, object, name, H5P_DEFAULT, H5P_DEFAULT),
                         H5Aclose,
                         "open an attribute");
    H5Aread(attribute.Get(), MakeHdf5TextType().Get(), &text);
    const std::string copy = text;
    H5free_memory(text);
    return copy;
}

/** More rows than a chunk holds read back as written, with the plain C interface. */
TEST(Hdf5RowTable, ColumnsOfSeveralChunksComeBackUnchanged)
{
    const ScratchFolder folder;
    const int rows = static_cast<int>(Hdf5Column::CHUNK_BYTES / sizeof(double)) * 2 + 17;
    WriteNumbers(folder / "a.h5", rows);

    Hdf5Handle file(
        H5Fopen((folder / "a.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "open");
    std::vector<double> times(rows);
    std::vector<int64_t> counts(rows);
    ASSERT_GE(H5LTread_dataset_double(file.Get(), "/numbers/time", times.data()), 0);
    ASSERT_GE(H5LTread_dataset(file.Get(), "/numbers/count", H5T_NATIVE_INT64, counts.data()), 0);
    for (int i = 0; i < rows; i++)
    {
        ASSERT_EQ(times[i], i * 0.25);
        ASSERT_EQ(counts[i], -i);
    }
    EXPECT_EQ(ReadTextAttribute(file.Get(), "/numbers/time", "units"), "s");
    EXPECT_EQ(ReadTextAttribute(file.Get(), "/numbers/time", "long_name"), "a time");
}

/** Every column is attached to the row counter, a dimension scale. */
TEST(Hdf5RowTable, TheRowCounterIsTheScaleOfEveryColumn)
{
    const ScratchFolder folder;
    WriteNumbers(folder / "a.h5", 3);
    Hdf5Handle file(
        H5Fopen((folder / "a.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "open");
    Hdf5Handle scale(H5Dopen2(file.Get(), "/numbers/row", H5P_DEFAULT), H5Dclose, "open");
    EXPECT_GT(H5DSis_scale(scale.Get()), 0);
    for (const char* name : {"/numbers/time", "/numbers/count"})
    {
        Hdf5Handle column(H5Dopen2(file.Get(), name, H5P_DEFAULT), H5Dclose, "open");
        EXPECT_GT(H5DSis_attached(column.Get(), scale.Get(), 0), 0) << name;
    }
}

TEST(Hdf5RowTable, TextIsKeptAsUtf8)
{
    const ScratchFolder folder;
    {
        Hdf5File file(folder / "a.h5", "-o");
        Hdf5RowTable<std::string> table(file, "/names", "row");
        table.Add({"name", "", "a name", ""}, [](const std::string& name) { return name; });
        table.AppendAll({"Käfer µs", ""});
        file.Commit();
    }
    Hdf5Handle file(
        H5Fopen((folder / "a.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "open");
    char* names[2] = {};
    ASSERT_GE(H5LTread_dataset(file.Get(), "/names/name", MakeHdf5TextType().Get(), names), 0);
    EXPECT_STREQ(names[0], "Käfer µs");
    EXPECT_STREQ(names[1], "");
    H5free_memory(names[0]);
    H5free_memory(names[1]);
}

TEST(Hdf5RowTable, EqualContentsGiveEqualFiles)
{
    const ScratchFolder folder;
    WriteNumbers(folder / "a.h5", 100);
    WriteNumbers(folder / "b.h5", 100);
    EXPECT_EQ(ScratchFolder::Read(folder / "a.h5"), ScratchFolder::Read(folder / "b.h5"));
}

TEST(Hdf5File, LeavesNothingBehindWithoutCommit)
{
    const ScratchFolder folder;
    {
        Hdf5File file(folder / "a.h5", "-o");
        file.AddGroup("/a");
        EXPECT_FALSE(std::filesystem::exists(folder / "a.h5"));
    }
    EXPECT_EQ(folder.Files(), 0U);
}

TEST(Hdf5File, KeepsAnOlderFileUntilTheNewOneIsComplete)
{
    const ScratchFolder folder;
    WriteNumbers(folder / "a.h5", 3);
    const std::string before = ScratchFolder::Read(folder / "a.h5");
    {
        Hdf5File file(folder / "a.h5", "-o");
        file.AddGroup("/a");
    }
    EXPECT_EQ(ScratchFolder::Read(folder / "a.h5"), before);
}

TEST(Hdf5File, RefusesAFolderAndAMissingFolder)
{
    const ScratchFolder folder;
    EXPECT_THROW(Hdf5File(folder / "", "-o"), InputError);
    EXPECT_THROW(Hdf5File(folder / "no/such.h5", "-o"), InputError);
    EXPECT_EQ(folder.Files(), 0U);
}

} // namespace
} // namespace weir
