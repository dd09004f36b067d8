// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_CORRECTED_INGRESS_SHARING_H
#define WEIR_FABRIC_TRANSPORT_CORRECTED_INGRESS_SHARING_H

#include "fabric/ids.h"
#include "fabric/parameters/parameter-visitor.h"
#include "fabric/transport/fluid/fluid-transport.h"
#include "fabric/units.h"

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace weir
{

/**
 * What queues that are first in, first out make of sharing where nothing but pauses or credits
 * slows senders: a port divides its rate among the links by which packets come to it, not among
 * flows, and a link that is held back holds back all its flows (head-of-line blocking).
 */
struct IngressSharing : Parameterized
{
    bool shares{false}; //!< false: off
    double blocking{0};

    bool IsOn() const
    {
        return shares;
    }

    void VisitParameters(ParameterVisitor& visitor) override;
};

/** A flow, as IngressSharing sees it. */
struct IngressFlow
{
    double line;              //!< most that its sender may send, bytes/s
    std::vector<LinkId> path; //!< its links with queues, in order
};

/**
 * Rates of flows when all queues that fill are full, bytes/s, by flow. Each port divides its rate
 * evenly among the links that lead to it, none getting more than comes by it; a flow that begins at
 * the port comes by itself. O(hops of all flows) for each of at most 64 sweeps.
 * @param linkRates bytes/s, by link
 * @param blocking part of the time that a link on which packets wait for a port keeps its other
 *     flows at the proportion in which they come; otherwise these get what is left of it
 */
std::vector<double> RatesByIngress(const std::vector<const IngressFlow*>& flows,
                                   const std::vector<double>& linkRates,
                                   double blocking);

/** Caps of flows by IngressSharing, recomputed whenever flows have begun or ended. */
class IngressRates
{
  public:
    /** @param fluid whose caps it sets; both must outlive it */
    IngressRates(const IngressSharing& values, FluidTransport& fluid, std::size_t links);

    /** A flow is to begin. @param begin when its first byte is at the ports of switches */
    void Add(FlowId id, Time begin, IngressFlow flow);

    /** It is done, or cancelled. */
    void Remove(FlowId id, Time now);

    /** A port has another rate, bytes/s. */
    void SetPortRate(LinkId link, double rate, Time now);

    Time NextEventTime() const;

    void AdvanceTo(Time now);

  private:
    struct Flow
    {
        IngressFlow flow;
        double cap; //!< that the fluid was told, bytes/s
    };

    const IngressSharing& m_values;
    FluidTransport& m_fluid;
    std::vector<double> m_rates;                  //!< by link
    std::map<uint64_t, Flow> m_flows;             //!< those that have begun
    std::map<uint64_t, IngressFlow> m_waiting;    //!< those that have not
    std::set<std::pair<Time, uint64_t>> m_begins; //!< of these
    Time m_changed{Time::Infinite()};             //!< since then caps are old
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_CORRECTED_INGRESS_SHARING_H
