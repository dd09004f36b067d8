// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_CORRECTED_INGRESS_SHARING_H
#define WEIR_FABRIC_TRANSPORT_CORRECTED_INGRESS_SHARING_H

#include "fabric/ids.h"
#include "fabric/transport/corrected/correction-spec.h"
#include "fabric/transport/fluid/fluid-transport.h"
#include "fabric/units.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace weir
{

/** A flow in the model of IngressSharing. */
struct IngressFlow
{
    double line;              //!< highest rate of its sender, bytes/s
    std::vector<LinkId> path; //!< links of its path that have queues, in order
};

/**
 * Steady-state rate of each flow in bytes/s, with all queues of saturated ports full. Each port
 * divides its rate evenly among the links that lead to it, and no link gets more than arrives by
 * it. A flow that starts at the port counts as a link of its own. O(hops of all flows) for each of
 * at most 64 sweeps.
 * @param linkRates bytes/s, by link
 * @param blocking fraction of the time in which a link with packets waiting for a port keeps its
 *        other flows in the proportion of their arrivals; in the rest of the time these flows get
 *        the rest of the link
 */
std::vector<double> RatesByIngress(const std::vector<const IngressFlow*>& flows,
                                   const std::vector<double>& linkRates,
                                   double blocking);

/** Caps of flows by IngressSharing, recomputed whenever flows start or end. */
class IngressRates
{
  public:
    /**
     * @param fluid the transport whose flows are capped; it and @p values must outlive this object
     */
    IngressRates(const IngressSharing& values, FluidTransport& fluid, std::size_t links);

    /** Adds a flow. @param begin when its first byte reaches the switch ports */
    void Add(FlowId id, Time begin, IngressFlow flow);

    /** Removes a flow that has ended or was canceled. */
    void Remove(FlowId id, Time now);

    /** Sets the rate of a port, bytes/s. */
    void SetPortRate(LinkId link, double rate, Time now);

    Time NextEventTime() const;

    void AdvanceTo(Time now);

  private:
    struct Flow
    {
        IngressFlow flow;
        double cap; //!< last cap set in the fluid, bytes/s
    };

    const IngressSharing& m_values;
    FluidTransport& m_fluid;
    std::vector<double> m_rates;                                //!< by link
    std::map<uint64_t, Flow> m_flows;                           //!< flows that have started
    std::map<std::pair<Time, uint64_t>, IngressFlow> m_waiting; //!< flows that have not, by start
    std::map<uint64_t, Time> m_begins;                          //!< starts of m_waiting
    Time m_changed{Time::Infinite()}; //!< first change since the last computation of
                                      //!< caps
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_CORRECTED_INGRESS_SHARING_H
