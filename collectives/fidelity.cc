// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/fidelity.h"

#include "collectives/engines/analytical-engine.h"
#include "collectives/engines/flow-engine.h"
#include "collectives/engines/stream-engine.h"
#include "fabric/enum-names.h"

#include <stdexcept>

namespace weir
{

namespace
{

constexpr EnumName<Fidelity> NAMES[]{
    {Fidelity::Analytical, "analytical"},
    {Fidelity::Stream, "stream"},
    {Fidelity::Flow, "flow"},
    {Fidelity::Packet, "packet"},
    {Fidelity::Hybrid, "hybrid"},
    {Fidelity::Auto, "auto"},
};

} // namespace

const char*
ToString(Fidelity fidelity)
{
    return NameIn(NAMES, fidelity);
}

std::optional<Fidelity>
ParseFidelity(const std::string& name)
{
    return ValueIn(NAMES, name);
}

FlowForm
FormOf(Fidelity fidelity)
{
    return fidelity == Fidelity::Packet ? FlowForm::Packets : FlowForm::Fluid;
}

bool
MovesChunks(Fidelity fidelity)
{
    return fidelity == Fidelity::Flow || fidelity == Fidelity::Packet ||
           fidelity == Fidelity::Hybrid;
}

TransportSpec
TransportOf(Fidelity fidelity,
            const PacketSpec& packets,
            const CouplingSpec& coupling,
            const SharingSpec& sharing,
            const CorrectionSpec& corrections)
{
    TransportSpec spec;
    if (fidelity == Fidelity::Hybrid)
    {
        spec.coupling = coupling;
    }
    if (spec.coupling || FormOf(fidelity) == FlowForm::Packets)
    {
        spec.packets = packets;
    }
    spec.sharing = sharing;
    spec.corrections = corrections;
    return spec;
}

std::unique_ptr<CollectiveEngine>
MakeCollectiveEngine(Fidelity fidelity, Planner& planner, Transport& transport)
{
    if (fidelity != Fidelity::Analytical && !transport.Moves(FormOf(fidelity)))
    {
        throw std::invalid_argument(std::string("MakeCollectiveEngine: found fidelity ") +
                                    ToString(fidelity) + ", expected " +
                                    (fidelity == Fidelity::Packet
                                         ? "stream or flow on a fluid transport"
                                         : "packet on a packet transport"));
    }
    switch (fidelity)
    {
    case Fidelity::Analytical:
        return std::make_unique<AnalyticalEngine>(planner);
    case Fidelity::Stream:
        return std::make_unique<StreamEngine>(planner, transport);
    case Fidelity::Flow:
    case Fidelity::Packet:
    case Fidelity::Hybrid:
        return std::make_unique<FlowEngine>(planner, transport, FormOf(fidelity));
    case Fidelity::Auto:
        break;
    }
    throw std::invalid_argument("MakeCollectiveEngine: no such fidelity");
}

} // namespace weir
