// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/fidelity.h"

#include "collectives/engines/analytical-engine.h"
#include "collectives/engines/flow-engine.h"
#include "collectives/engines/stream-engine.h"

#include <array>
#include <stdexcept>
#include <utility>

namespace weir
{

namespace
{

constexpr std::array<std::pair<Fidelity, const char*>, 4> NAMES{{
    {Fidelity::Analytical, "analytical"},
    {Fidelity::Stream, "stream"},
    {Fidelity::Flow, "flow"},
    {Fidelity::Packet, "packet"},
}};

} // namespace

const char*
ToString(Fidelity fidelity)
{
    for (const auto& [each, name] : NAMES)
    {
        if (each == fidelity)
        {
            return name;
        }
    }
    return "?";
}

std::optional<Fidelity>
ParseFidelity(const std::string& name)
{
    for (const auto& [each, text] : NAMES)
    {
        if (name == text)
        {
            return each;
        }
    }
    return std::nullopt;
}

bool
MovesPackets(Fidelity fidelity)
{
    return fidelity == Fidelity::Packet;
}

std::unique_ptr<CollectiveEngine>
MakeCollectiveEngine(Fidelity fidelity, Planner& planner, Transport& transport)
{
    if (fidelity != Fidelity::Analytical && transport.TellsArrival() != MovesPackets(fidelity))
    {
        throw std::invalid_argument(
            std::string("MakeCollectiveEngine: found fidelity ") + ToString(fidelity) +
            ", expected " +
            (transport.TellsArrival() ? "packet on packets" : "stream or flow on a fluid"));
    }
    switch (fidelity)
    {
    case Fidelity::Analytical:
        return std::make_unique<AnalyticalEngine>(planner);
    case Fidelity::Stream:
        return std::make_unique<StreamEngine>(planner, transport);
    case Fidelity::Flow:
    case Fidelity::Packet:
        return std::make_unique<FlowEngine>(planner, transport);
    }
    throw std::invalid_argument("MakeCollectiveEngine: no such fidelity");
}

} // namespace weir
