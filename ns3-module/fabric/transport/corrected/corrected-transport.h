// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_CORRECTED_CORRECTED_TRANSPORT_H
#define WEIR_FABRIC_TRANSPORT_CORRECTED_CORRECTED_TRANSPORT_H

#include "fabric/transport/corrected/correction-spec.h"
#include "fabric/transport/corrected/ingress-sharing.h"
#include "fabric/transport/corrected/rate-recovery.h"
#include "fabric/transport/fluid/fluid-spec.h"
#include "fabric/transport/fluid/fluid-transport.h"
#include "fabric/transport/transport.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace weir
{

/**
 * A fluid transport whose flows start later and get lower rates, by models of packet effects
 * (CorrectionSpec).
 *
 * The models use the path that a flow has at its start. Where packets of a flow are sprayed over
 * several paths, rates are cut at the last link only, which all of its packets take. Of a sum of
 * routes, only the rates of its links are corrected. A link is saturated when all that the
 * corrections leave of its rate is in use.
 *
 * Cost: O(1) a flow while all models are off; with recovery O(n) for each link of a flow, for n
 * flows that share the link; with sharing by ingress O(hops of all flows) whenever a flow starts or
 * ends.
 */
class CorrectedTransport final : public FluidTransport, private TransportObserver
{
  public:
    /**
     * @p routing must outlive it.
     * @throws std::invalid_argument if both recovery and sharing by ingress are on, since both cap
     *         flows.
     */
    CorrectedTransport(Routing& routing, CorrectionSpec spec, const SharingSpec& sharing = {});
    CorrectedTransport(const CorrectedTransport&) = delete;
    CorrectedTransport& operator=(const CorrectedTransport&) = delete;

    Time NextEventTime() override;
    void AdvanceTo(Time now) override;
    FlowId Start(const FlowRequest& request, Time now) override;
    void SetLinkRate(LinkId link, Rate rate, Time now) override;
    bool Cancel(FlowId id, Time now) override;

    /**
     * Where recovery is on, traffic that is not fluid fills ports too. It is not corrected, and
     * sharing by ingress ignores it.
     */
    FlowId Occupy(const FlowRequest& request, FlowPath path, Time now) override;
    bool SetOccupant(FlowId id, Rate cap, FlowPath path, double weight, Time now) override;

  private:
    void OnFlowFinished(FlowId id, const FlowRequest& request, Time started, Time now) override;
    std::vector<LinkId> NetworkLinksOf(PathId path) const;
    std::vector<LinkId> SharedPortsOf(PathId path) const;
    double LineOf(const FlowRequest& request) const;

    Routing& m_routing;
    const Topology& m_topology;
    CorrectionSpec m_spec;
    RecoveringRates m_recovering;
    IngressRates m_byIngress;
};

/**
 * Creates a fluid transport, corrected if a model of @p corrections is on.
 * @throws std::invalid_argument as CorrectedTransport.
 */
std::unique_ptr<FluidTransport> MakeFluidTransport(Routing& routing,
                                                   const CorrectionSpec& corrections,
                                                   const SharingSpec& sharing);

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_CORRECTED_CORRECTED_TRANSPORT_H
