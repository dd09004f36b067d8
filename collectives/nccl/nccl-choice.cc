// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl/nccl-choice.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace weir
{

namespace
{

bool
IsCollNet(Algorithm algorithm)
{
    return algorithm == Algorithm::CollNetDirect || algorithm == Algorithm::CollNetChain;
}

bool
IsNvls(Algorithm algorithm)
{
    return algorithm == Algorithm::Nvls || algorithm == Algorithm::NvlsTree;
}

/** Maximum threads of a block (maxThreads). */
int64_t
MaxThreads(const Communicator& communicator, Algorithm algorithm, Protocol protocol)
{
    constexpr double NARROW_RING = 12.0; // GB/s of all channels, tuning.cc's PCI_BW
    if (IsCollNet(algorithm) || IsNvls(algorithm) || protocol == Protocol::Ll128)
    {
        return 640;
    }
    const bool narrow = protocol == Protocol::Simple && communicator.searchBandwidth <= NARROW_RING;
    return narrow ? 256 : 512;
}

/** Minimum bytes per thread (threadThresholds). */
int64_t
MinPerThread(const Communicator& communicator, Algorithm algorithm, Protocol protocol)
{
    if (IsCollNet(algorithm))
    {
        return 512;
    }
    switch (protocol)
    {
    case Protocol::Ll:
        return algorithm == Algorithm::Ring ? 8 * static_cast<int64_t>(communicator.Size()) : 8;
    case Protocol::Ll128:
        return 8;
    case Protocol::Simple:
        break;
    }
    return 64;
}

/**
 * Whether NCCL_ALGO leaves NCCL @p algorithm for @p op. Before 2.24, which made lists strict, it
 * disabled rings for all-reduce only, so that programs ran with NCCL_ALGO=TREE (tuning.cc).
 */
bool
IsEnabled(const NcclConstants& constants,
          const NcclFilter& filter,
          CollectiveOp op,
          Algorithm algorithm)
{
    constexpr uint32_t STRICT_SINCE = 24;
    const bool isKept = algorithm == Algorithm::Ring && op != CollectiveOp::AllReduce &&
                        !constants.Version().AtLeast(STRICT_SINCE);
    return isKept || filter.Allows(op, algorithm);
}

} // namespace

KernelWidth
NcclKernelWidth(const NcclCase& c, Bytes bytes, uint32_t max)
{
    const auto& [constants, communicator, algorithm, op, protocol] = c;
    constexpr int64_t WARPS = 128; // the number of threads stays a multiple of this
    int64_t threads = MaxThreads(communicator, algorithm, protocol);
    int64_t channels = max;
    if (!IsNvls(algorithm))
    {
        const int64_t min = MinPerThread(communicator, algorithm, protocol);
        channels = std::clamp<int64_t>(bytes.Count() / (threads * min), 1, max);
        while (threads % WARPS == 0 && bytes.Count() < channels * threads * min)
        {
            threads /= 2;
        }
        const auto ofChannel = static_cast<int64_t>(constants.ValueOf(NcclTable::ChannelTraffic));
        const int64_t traffic = bytes.Count() * (op == CollectiveOp::AllReduce ? 2 : 1);
        channels = std::clamp<int64_t>((traffic + ofChannel - 1) / ofChannel, 1, channels);
    }
    return {static_cast<uint32_t>(channels), static_cast<uint32_t>(threads)};
}

std::vector<NcclEstimate>
NcclEstimates(const NcclConstants& constants,
              const Communicator& communicator,
              const CollectiveCall& call,
              const std::vector<const CollectiveAlgorithm*>& candidates,
              const NcclFilter& filter)
{
    std::vector<NcclEstimate> estimates;
    for (const auto* each : candidates)
    {
        if (!call.overrides.algorithm && !IsEnabled(constants, filter, call.op, each->algorithm))
        {
            continue;
        }
        for (Protocol protocol : {Protocol::Ll, Protocol::Ll128, Protocol::Simple})
        {
            if (each->choose == nullptr && HasProtocol(each->algorithm, protocol) &&
                (call.overrides.protocol ? *call.overrides.protocol == protocol
                                         : filter.Allows(call.op, protocol)))
            {
                const Time time = NcclTime(
                    {constants, communicator, each->algorithm, call.op, protocol}, call.bytes);
                estimates.push_back({each, protocol, time});
            }
        }
    }
    return estimates;
}

NcclChoice
ChooseAsNccl(const std::vector<NcclEstimate>& estimates, const CollectiveCall& call)
{
    if (estimates.empty() && (!call.overrides.protocol || !call.overrides.algorithm))
    {
        throw std::invalid_argument(
            std::string("found no algorithm and protocol for ") + ToString(call.op) +
            " that this group supports and its overrides and filters allow, expected at least one");
    }
    if (estimates.empty())
    {
        throw std::invalid_argument(std::string("found protocol '") +
                                    ToString(*call.overrides.protocol) + "', which algorithm '" +
                                    ToString(*call.overrides.algorithm) +
                                    "' does not support, expected simple");
    }
    const auto best = std::min_element(
        estimates.begin(), estimates.end(), [](const NcclEstimate& a, const NcclEstimate& b) {
            return a.time < b.time;
        });
    return {best->algorithm, best->protocol, 1};
}

CollectiveCall
WithTunerRule(const CollectiveCall& call,
              const std::vector<TunerRule>& rules,
              const Communicator& communicator)
{
    CollectiveCall decided = call;
    for (const auto& rule : rules)
    {
        if (!rule.Fits(call.op, call.bytes, communicator.nodes, communicator.Size()))
        {
            continue;
        }
        auto& overrides = decided.overrides;
        overrides.algorithm = overrides.algorithm ? overrides.algorithm : rule.algorithm;
        overrides.protocol = overrides.protocol ? overrides.protocol : rule.protocol;
        overrides.channels = overrides.channels ? overrides.channels : rule.channels;
        break;
    }
    return decided;
}

} // namespace weir
