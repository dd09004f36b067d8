// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TESTS_COLLECTIVES_REDUCING_NETWORK_H
#define WEIR_TESTS_COLLECTIVES_REDUCING_NETWORK_H

#include "collective-bench.h"
#include "reference-machines.h"
#include "schedule-check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <random>
#include <vector>

/**
 * @file
 * All-gather and reduce-scatter over networks whose switches reduce, for any algorithm.
 */
namespace weir
{

constexpr CollectiveOp HALVES[] = {CollectiveOp::AllGather, CollectiveOp::ReduceScatter};

inline ClusterSpec
WithSharp(ClusterSpec spec)
{
    spec.fabric.inNetworkReduction = true;
    return spec;
}

/** Expects the operation's postcondition at every rank, in groups over 3 nodes in random order. */
inline void
ExpectHalvesMeetTheirPostcondition(Algorithm algorithm, std::initializer_list<uint32_t> gpusPerNode)
{
    std::mt19937 random(5);
    CollectiveBench bench(WithSharp(H100Boxes(3)));
    for (uint32_t gpus : gpusPerNode)
    {
        std::vector<GpuId> group;
        for (uint32_t i = 0; i < 3 * gpus; ++i)
        {
            group.emplace_back(i % 3 * 8 + i / 3);
        }
        std::shuffle(group.begin(), group.end(), random);
        const auto id = bench.GetPlanner().AddCommunicator(group);
        for (CollectiveOp op : HALVES)
        {
            for (Bytes bytes : {Bytes(1), Bytes(1234567), Bytes(70'000'001)})
            {
                const auto call = WithAlgorithm(MakeCall(id, op, bytes), algorithm);
                EXPECT_EQ(CheckSchedule(bench.GetPlanner().GetSchedule(call), {3 * gpus, bytes, 0}),
                          "")
                    << ToString(op) << " of " << gpus;
            }
        }
    }
}

/** Expects stream to equal the closed form, and flow to be near it. */
inline void
ExpectHalvesAgree(Algorithm algorithm)
{
    CollectiveBench bench(WithSharp(H100Boxes(4)));
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(32));
    for (CollectiveOp op : HALVES)
    {
        for (const uint32_t channels : {1U, 4U, 16U})
        {
            for (Bytes bytes : {Bytes::KiB(64), Bytes::MiB(4), Bytes::MiB(64), Bytes::MiB(512)})
            {
                const auto call =
                    WithChannels(WithAlgorithm(MakeCall(id, op, bytes), algorithm), channels);
                const double planned = bench.GetPlanner().Plan(call).duration.ToMicroseconds();
                EXPECT_NEAR(bench.Run(Fidelity::Stream, call).ToMicroseconds(), planned, ROUNDING);
                EXPECT_NEAR(bench.Run(Fidelity::Flow, call).ToMicroseconds() / planned, 1, 0.06)
                    << ToString(op) << " " << bytes.Count() << " on " << channels << " planned "
                    << planned;
            }
        }
    }
}

} // namespace weir

#endif // WEIR_TESTS_COLLECTIVES_REDUCING_NETWORK_H
