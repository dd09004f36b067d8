// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/known-balances.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

class NoSharing : public PathSharing
{
  public:
    const std::vector<LinkShare>& SharesOf(PathId path) override
    {
        return m_nothing;
    }

    bool IsPerPacket() const override
    {
        return false;
    }

    std::unique_ptr<PathSharing> Together(const std::vector<PathLoad>& loads) override
    {
        return nullptr;
    }

  private:
    std::vector<LinkShare> m_nothing;
};

TEST(KnownBalances, BalanceOnceWhatHasTheSamePathsInTheSameProportions)
{
    KnownBalances known;
    int balanced = 0;
    const auto balance = [&](const std::vector<PathLoad>& loads) {
        balanced++;
        return std::make_unique<NoSharing>();
    };
    const std::vector<PathLoad> loads{{PathId(3), 1}, {PathId(5), 2}};
    const PathSharing* first = &known.Of(loads, balance);
    // Twice or a third of the load on every link is divided over the same ways.
    EXPECT_EQ(&known.Of({{PathId(3), 2}, {PathId(5), 4}}, balance), first);
    EXPECT_EQ(&known.Of({{PathId(3), 1.0 / 3}, {PathId(5), 2.0 / 3}}, balance), first);
    EXPECT_EQ(balanced, 1);
    // Other proportions, other paths or one more are not.
    EXPECT_NE(&known.Of({{PathId(3), 1}, {PathId(5), 1}}, balance), first);
    EXPECT_NE(&known.Of({{PathId(3), 1}, {PathId(6), 2}}, balance), first);
    EXPECT_NE(&known.Of({{PathId(3), 1}, {PathId(5), 2}, {PathId(7), 1}}, balance), first);
    EXPECT_EQ(balanced, 4);
    known.Forget();
    known.Of(loads, balance);
    EXPECT_EQ(balanced, 5);
}

} // namespace
} // namespace weir
