// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl/nccl-choice.h"

#include "collectives/nccl/nccl-tuning.h"

#include <stdexcept>
#include <string>

namespace weir
{

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
        if (!call.overrides.algorithm && !filter.Allows(call.op, each->algorithm))
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
                    constants, communicator, each->algorithm, call.op, protocol, call.bytes);
                estimates.push_back({each, protocol, time});
            }
        }
    }
    return estimates;
}

NcclChoice
ChooseAsNccl(const NcclConstants& constants,
             const Communicator& communicator,
             const CollectiveCall& call,
             const std::vector<const CollectiveAlgorithm*>& candidates,
             const NcclFilter& filter)
{
    const auto estimates = NcclEstimates(constants, communicator, call, candidates, filter);
    if (estimates.empty() && (!call.overrides.protocol || !call.overrides.algorithm))
    {
        throw std::invalid_argument(std::string("found no algorithm and protocol for ") +
                                    ToString(call.op) +
                                    " among those that this group has and its overrides and "
                                    "filters leave, expected one");
    }
    if (estimates.empty())
    {
        throw std::invalid_argument(std::string("found protocol '") +
                                    ToString(*call.overrides.protocol) + "', which algorithm '" +
                                    ToString(candidates.front()->algorithm) +
                                    "' does not have, expected simple");
    }
    const NcclEstimate* best = &estimates.front();
    for (const auto& each : estimates)
    {
        if (each.time < best->time)
        {
            best = &each;
        }
    }
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
