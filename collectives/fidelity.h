// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_FIDELITY_H
#define WEIR_COLLECTIVES_FIDELITY_H

#include "collectives/engines/collective-engine.h"
#include "collectives/planner.h"
#include "fabric/fabric.h"
#include "fabric/transport/transport.h"

#include <memory>
#include <optional>
#include <string>

namespace weir
{

/** The level of detail of a collective's simulation; each level is validated against the next. */
enum class Fidelity : uint8_t
{
    Analytical, //!< one closed-form duration without events inside the call
    Stream,     //!< one fluid flow per channel over all its hops at once, or a few that begin in
                //!< turn, after the call's latency
    Flow,       //!< every chunk of every NCCL step is a fluid flow with its true dependencies
    Packet,     //!< as Flow, with every flow simulated as packets in queues
    Hybrid,     //!< as Flow; the transport decides which flows are simulated as packets
    Auto        //!< Analytical, Stream or Flow call by call, as error bounds allow
};

const char* ToString(Fidelity fidelity);
std::optional<Fidelity> ParseFidelity(const std::string& name);

/**
 * The form of a fidelity's flows; for Hybrid that of the flows which are not simulated as packets.
 */
FlowForm FormOf(Fidelity fidelity);

/** Whether every chunk of a call is a flow of its own: Flow, Packet and Hybrid. */
bool MovesChunks(Fidelity fidelity);

/** The transport of a fidelity. Packet and Hybrid use @p packets, only Hybrid uses @p coupling. */
TransportSpec TransportOf(Fidelity fidelity,
                          const PacketSpec& packets,
                          const CouplingSpec& coupling,
                          const SharingSpec& sharing,
                          const CorrectionSpec& corrections);

/**
 * The engine of a fidelity. @p planner and @p transport must outlive it; Analytical does not use
 * the transport.
 * @throws std::invalid_argument when the transport does not move FormOf(@p fidelity), and for Auto,
 *         which combines other engines: see AutoEngine.
 */
std::unique_ptr<CollectiveEngine> MakeCollectiveEngine(Fidelity fidelity,
                                                       Planner& planner,
                                                       Transport& transport);

} // namespace weir

#endif // WEIR_COLLECTIVES_FIDELITY_H
