// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_LOAD_BALANCING_TRANSPORT_H
#define WEIR_FABRIC_LOAD_BALANCING_TRANSPORT_H

#include "fabric/routing/path-table.h"
#include "fabric/routing/router.h"
#include "fabric/routing/way-chooser.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/transport/transport.h"

#include <memory>
#include <unordered_map>
#include <vector>

namespace weir
{

/**
 * A transport whose switches choose by load, or spray: what is planned for a path takes the ways
 * from NIC to NIC that WayChooser gives it when it starts. Everything else is the inner
 * transport's.
 *
 * Paths of several ways that start at one time get them together, before anything moves.
 *
 * A sprayed transfer is one flow of 1 / unit of its bytes that crosses each link as often as its
 * share in units, with 1 / unit of its weight and cap: so it loads every link in proportion, gets
 * the share of any other flow, and finishes on all ways together. Observers see it on the path it
 * was planned for.
 */
class LoadBalancingTransport final : public Transport,
                                     private TransferClient,
                                     private TransportObserver
{
  public:
    /** References must outlive it. From now on @p paths has the shares of this routing. */
    LoadBalancingTransport(std::unique_ptr<Transport> inner,
                           PathTable& paths,
                           Router& router,
                           const FabricSpec& fabric);
    ~LoadBalancingTransport() override;

    Time NextEventTime() override;
    void AdvanceTo(Time now) override;
    TransferId Start(const TransferRequest& request, Time now) override;
    void SetLinkRate(LinkId link, Rate rate, Time now) override;
    bool SetPath(TransferId id, PathId path, Time now) override;
    bool Cancel(TransferId id, Time now) override;
    Rate CurrentRate(TransferId id) override;
    Rate CurrentLinkRate(LinkId link) override;
    LinkUsage GetLinkUsage(LinkId link) override;
    std::size_t ActiveTransfers() const override;
    void SetObserver(TransportObserver* observer, bool linkRates) override;

  private:
    /** A transfer under way. */
    struct Moving
    {
        TransferRequest request; //!< as asked for
        ChosenWay way;
        uint64_t id{0};     //!< of the inner transport
        bool isOpen{false}; //!< its way is yet to be found, with others'
    };

    void OnTransferDone(uint64_t token, Time now) override;
    void OnTransferStarted(TransferId id, const TransferRequest& request, Time now) override;
    void OnTransferFinished(TransferId id,
                            const TransferRequest& request,
                            Time started,
                            Time now) override;
    void OnLinkRate(LinkId link, Rate rate, Time now) override;

    /** @p inner as whoever started the transfer would see it. */
    TransferRequest AsAsked(const TransferRequest& inner) const;
    void Release(uint32_t place, Time now);

    /** All of a transfer on the path that it was planned for, in units. */
    ChosenWay WholeWay(PathId path, uint32_t unit);

    /** Gives transfers of several ways that have started theirs, all together. */
    void DivideStarted();

    std::unique_ptr<Transport> m_inner;
    PathTable& m_paths;
    WayChooser m_chooser;
    TransportObserver* m_observer{nullptr};
    std::vector<Moving> m_moving;
    std::vector<uint32_t> m_free;                    //!< places of m_moving
    std::vector<uint32_t> m_started;                 //!< places that DivideStarted waits for
    Time m_startedAt;                                //!< when they have
    std::unordered_map<uint64_t, uint32_t> m_places; //!< by TransferId
};

/** Fluid sharing on @p paths with switches that route as @p fabric says. */
std::unique_ptr<Transport> MakeFluidTransport(PathTable& paths,
                                              Router& router,
                                              const FabricSpec& fabric);

/** Whether what a transfer takes is known only when it starts. */
bool IsByLoad(RoutingKind kind);

} // namespace weir

#endif // WEIR_FABRIC_LOAD_BALANCING_TRANSPORT_H
