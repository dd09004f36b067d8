// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_CORRECTED_CORRECTED_TRANSPORT_H
#define WEIR_FABRIC_TRANSPORT_CORRECTED_CORRECTED_TRANSPORT_H

#include "fabric/transport/corrected/correction-spec.h"
#include "fabric/transport/fluid/fluid-transport.h"
#include "fabric/transport/transport.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace weir
{

/**
 * A fluid whose flows begin later and get less, as models of what packets do say (CorrectionSpec).
 *
 * They follow the path that a flow has when it starts; where its packets are spread over several,
 * only the last link, which all of them take, is one where rates are cut. What is a sum of routes
 * is not corrected besides the rates of its links. A link is saturated when all that the
 * corrections leave is in use.
 * Cost: none where all is off but O(1) for each flow; with recovery O(n) for each of a flow's
 * links, of n flows that share it; with sharing by ingress O(hops of all flows) whenever one begins
 * or ends.
 */
class CorrectedTransport final : public FluidTransport, private TransportObserver
{
  public:
    /**
     * @p routing must outlive it.
     * @throws std::invalid_argument where both recovery and sharing by ingress are on, which would
     *     each cap flows.
     */
    CorrectedTransport(Routing& routing, CorrectionSpec spec, const SharingSpec& sharing = {});
    ~CorrectedTransport() override;
    CorrectedTransport(const CorrectedTransport&) = delete;
    CorrectedTransport& operator=(const CorrectedTransport&) = delete;

    Time NextEventTime() override;
    void AdvanceTo(Time now) override;
    FlowId Start(const FlowRequest& request, Time now) override;
    void SetLinkRate(LinkId link, Rate rate, Time now) override;
    bool Cancel(FlowId id, Time now) override;

    /** What is not fluid fills ports, too, where flows recover; it is not corrected, and not known
     * to sharing by ingress. */
    FlowId Occupy(const FlowRequest& request, FlowPath path, Time now) override;
    void SetOccupant(FlowId id, Rate cap, FlowPath path, double weight, Time now) override;

  private:
    void OnFlowFinished(FlowId id, const FlowRequest& request, Time started, Time now) override;
    std::vector<LinkId> NetworkLinksOf(PathId path) const;
    std::vector<LinkId> SharedPortsOf(PathId path) const;
    double LineOf(const FlowRequest& request) const;
    Rate FluidRate(uint32_t link, Rate rate) const;

    Routing& m_routing;
    const Topology& m_topology;
    CorrectionSpec m_spec;
    RecoveringRates m_recovering;
    IngressRates m_byIngress;
};

/** A fluid, corrected where a model of @p corrections is on. @throws as CorrectedTransport. */
std::unique_ptr<FluidTransport> MakeFluidTransport(Routing& routing,
                                                   const CorrectionSpec& corrections,
                                                   const SharingSpec& sharing);

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_CORRECTED_CORRECTED_TRANSPORT_H
