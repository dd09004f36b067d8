// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/yaml/size-list.h"

#include "scenarios/yaml/input-error.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

std::vector<int64_t>
Counts(const std::string& text)
{
    std::vector<int64_t> counts;
    for (const Bytes size : ParseSizeList(text))
    {
        counts.push_back(size.Count());
    }
    return counts;
}

using List = std::vector<int64_t>;

TEST(SizeList, RangeIsGeometricAndIncludesItsLastSize)
{
    EXPECT_EQ(Counts("8B:64B:x2"), (List{8, 16, 32, 64}));
    EXPECT_EQ(Counts("1KiB:10KiB:x4"), (List{1024, 4096}));
    EXPECT_EQ(Counts("8:8:x2"), (List{8}));
    EXPECT_EQ(Counts("8B:16GiB:x2").size(), 32U); // 2^3 to 2^34
}

TEST(SizeList, ListKeepsItsOrderAndTakesExactCounts)
{
    EXPECT_EQ(Counts("64MiB,1MiB,1048577"), (List{67108864, 1048576, 1048577}));
    EXPECT_EQ(Counts("1GB"), (List{1000000000}));
    EXPECT_EQ(Counts("0"), (List{0}));
}

TEST(SizeList, RangeStopsWhereSizesEnd)
{
    EXPECT_EQ(Counts("1:9223372036854775807:x1048576").size(), 4U); // 2^0, 2^20, 2^40, 2^60
}

TEST(SizeList, RefusesEverythingElse)
{
    for (const char* text : {"",
                             "8B,",
                             "8B:16B",
                             "8B:16B:2",
                             "8B:16B:x",
                             "8B:16B:x1",
                             "8B:16B:x-2",
                             "16B:8B:x2",
                             "0:8:x2",
                             "8B:16B:x2:x2",
                             "-8",
                             "8Q",
                             "99999999999999999999"})
    {
        EXPECT_THROW(ParseSizeList(text), InputError) << text;
    }
}

} // namespace
} // namespace weir
