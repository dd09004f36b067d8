// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/packet/event-wheel.h"
#include "random-stream.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

namespace weir
{
namespace
{

/**
 * The wheel agrees with an ordered set under random scheduling, moving, cancelling and popping,
 * whether or not the first time was queried before earlier events were scheduled.
 */
TEST(EventWheel, AgreesWithAnOrderedSet)
{
    constexpr uint32_t NUMBERS = 200;
    for (uint64_t seed = 1; seed <= 40; seed++)
    {
        RandomStream random(seed);
        EventWheel wheel;
        for (const auto kind : {PacketEventKind::Arrival, PacketEventKind::PortReady})
        {
            wheel.Reserve(kind, NUMBERS);
        }
        using Key = std::tuple<int64_t, unsigned, uint32_t>;
        std::set<Key> expected;
        std::map<std::pair<unsigned, uint32_t>, int64_t> times;
        int64_t now = 0;
        for (int i = 0; i < 20000; i++)
        {
            const auto kind =
                random.OneIn(2) ? PacketEventKind::Arrival : PacketEventKind::PortReady;
            const auto rank = static_cast<unsigned>(kind);
            const auto number = static_cast<uint32_t>(random.Below(NUMBERS));
            const auto known = times.find({rank, number});
            const uint64_t what = random.Below(8);
            if (what < 4)
            {
                // From the same instant to a quarter of an hour later.
                const int64_t later =
                    random.OneIn(4) ? 0 : static_cast<int64_t>(random.PowerOfTen(0, 15));
                if (known != times.end())
                {
                    expected.erase({known->second, rank, number});
                }
                wheel.Schedule(kind, number, now + later);
                times[{rank, number}] = now + later;
                expected.insert({now + later, rank, number});
            }
            else if (what == 4)
            {
                wheel.Cancel(kind, number);
                if (known != times.end())
                {
                    expected.erase({known->second, rank, number});
                    times.erase(known);
                }
            }
            else if (expected.empty())
            {
                ASSERT_EQ(wheel.NextTime(), EventWheel::NEVER);
            }
            else
            {
                const auto [time, first, which] = *expected.begin();
                if (random.OneIn(2))
                {
                    ASSERT_EQ(wheel.PeekTime(), time) << "seed " << seed << ", step " << i;
                    ASSERT_GE(wheel.NextTime(time), time);
                    continue; // and later iterations may schedule events before it
                }
                ASSERT_EQ(wheel.NextTime(), time) << "seed " << seed << ", step " << i;
                const EventWheel::Event event = wheel.Pop();
                ASSERT_EQ(static_cast<unsigned>(event.kind), first);
                ASSERT_EQ(event.number, which);
                expected.erase(expected.begin());
                times.erase({first, which});
                now = time;
            }
        }
    }
}

/**
 * Events of one slot are popped in order, whether they share one instant, a part of the slot or all
 * of it.
 */
TEST(EventWheel, OrdersManyEventsOfASlot)
{
    constexpr uint32_t NUMBERS = 300;
    RandomStream random(1);
    for (const uint64_t span : {1, 3, 8, 100, 512, 5000})
    {
        for (const uint32_t count : {2u, 15u, 60u, NUMBERS})
        {
            EventWheel wheel;
            using Key = std::tuple<int64_t, unsigned, uint32_t>;
            std::set<Key> expected;
            for (const auto kind : {PacketEventKind::PortReady, PacketEventKind::Arrival})
            {
                wheel.Reserve(kind, NUMBERS);
                for (uint32_t number = 0; number < count; number++)
                {
                    const auto time = static_cast<int64_t>(1'000'000 + random.Below(span));
                    wheel.Schedule(kind, number, time);
                    expected.insert({time, static_cast<unsigned>(kind), number});
                }
            }
            for (const auto& [time, kind, number] : expected)
            {
                ASSERT_EQ(wheel.NextTime(), time) << count << " in " << span << " ps";
                const EventWheel::Event event = wheel.Pop();
                ASSERT_EQ(static_cast<unsigned>(event.kind), kind);
                ASSERT_EQ(event.number, number);
            }
            ASSERT_EQ(wheel.NextTime(), EventWheel::NEVER);
        }
    }
}

/**
 * An event that was moved away and back is popped once; the old times of moved events and canceled
 * events are not popped.
 */
TEST(EventWheel, TakesEventsOnceThatWereMovedBack)
{
    constexpr auto KIND = PacketEventKind::PortReady;
    EventWheel wheel;
    wheel.Reserve(KIND, 3);
    for (const int64_t time : {5000, 9000, 5000, 9000, 5000})
    {
        wheel.Schedule(KIND, 0, time);
    }
    wheel.Schedule(KIND, 1, 7000);
    wheel.Cancel(KIND, 1);
    wheel.Schedule(KIND, 2, 20000);
    ASSERT_EQ(wheel.NextTime(), 5000);
    EXPECT_EQ(wheel.Pop().number, 0u);
    ASSERT_EQ(wheel.NextTime(), 20000);
    EXPECT_EQ(wheel.Pop().number, 2u);
    EXPECT_EQ(wheel.NextTime(), EventWheel::NEVER);
}

} // namespace
} // namespace weir
