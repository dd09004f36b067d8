// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_FIDELITY_H
#define WEIR_COLLECTIVES_FIDELITY_H

#include "collectives/engines/collective-engine.h"
#include "collectives/planner.h"
#include "fabric/transport/make-transport.h"
#include "fabric/transport/transport.h"

#include <memory>
#include <optional>
#include <string>

namespace weir
{

/** How closely a collective is followed; each is validated against the next. */
enum class Fidelity : uint8_t
{
    Analytical, //!< one closed-form duration, no events inside
    Stream,     //!< per channel one fluid flow over all its hops at once, plus its latency
    Flow,       //!< every chunk of every NCCL step is a fluid flow with its true dependencies
    Packet,     //!< as Flow, and the flows are packets in queues
    Hybrid,     //!< as Flow, and those are packets that the transport takes for such
    Auto        //!< call by call Analytical, Stream or Flow, as error bounds allow
};

const char* ToString(Fidelity fidelity);
std::optional<Fidelity> ParseFidelity(const std::string& name);

/** What bytes move as in a fidelity; of Hybrid those that are no packets. */
FlowForm FormOf(Fidelity fidelity);

/** Whether every chunk of a call moves by itself: Flow, Packet and Hybrid. */
bool MovesChunks(Fidelity fidelity);

/** What moves bytes in a fidelity: of @p packets and @p coupling what it has a use for. */
TransportSpec TransportOf(Fidelity fidelity,
                          const PacketSpec& packets,
                          const CouplingSpec& coupling,
                          const SharingSpec& sharing,
                          const CorrectionSpec& corrections);

/**
 * The engine of that fidelity. @p planner and @p transport must outlive it; Analytical does not use
 * the transport.
 * @throws std::invalid_argument when the transport does not move FormOf(@p fidelity), and of Auto,
 * which is made of others: see AutoEngine.
 */
std::unique_ptr<CollectiveEngine> MakeCollectiveEngine(Fidelity fidelity,
                                                       Planner& planner,
                                                       Transport& transport);

} // namespace weir

#endif // WEIR_COLLECTIVES_FIDELITY_H
