// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RUNNING_REROUTING_TRANSPORT_H
#define WEIR_SCENARIOS_RUNNING_REROUTING_TRANSPORT_H

#include "fabric/routing/path-table.h"
#include "fabric/routing/router.h"
#include "fabric/transport/transport.h"

#include <map>
#include <unordered_map>
#include <vector>

namespace weir
{

/**
 * A transport that leads transfers around links that are down: those under way when a link fails
 * go on over another way, later ones take it from the start, and all go back when it comes up, as
 * routing converges to the shortest ways again. A transfer with no way around stands still.
 * Everything else is the inner transport's.
 */
class ReroutingTransport : public Transport, private TransportObserver
{
  public:
    /**
     * All references must outlive it.
     * @param expectsFailures whether TakeDown may be called; without it transfers under way are
     *        not kept track of, which costs nothing
     */
    ReroutingTransport(Transport& inner, PathTable& paths, Router& router, bool expectsFailures);
    ~ReroutingTransport() override;

    /** Both directions of the wire that @p link belongs to stop at @p now. */
    void TakeDown(LinkId link, Time now);

    /**
     * They go on at @p now, at the rate they were last given. Transfers that stood still go on, and
     * those that were led around take the path again that was asked for.
     */
    void BringUp(LinkId link, Time now);

    /** The links that are down now, ascending. */
    std::vector<LinkId> LinksDown() const;

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
    void OnTransferStarted(TransferId id, const TransferRequest& request, Time now) override;
    void OnTransferFinished(TransferId id,
                            const TransferRequest& request,
                            Time started,
                            Time now) override;
    void OnLinkRate(LinkId link, Rate rate, Time now) override;

    /** The paths of a transfer. */
    struct UnderWay
    {
        PathId asked;
        PathId taken;
    };

    /** The way around for @p path; itself when there is none or none is needed. Memoised. */
    PathId Repaired(PathId path);

    /** Leads transfers under way anew, after links went or came. */
    void RepairAll(Time now);

    Transport& m_inner;
    PathTable& m_paths;
    Router& m_router;
    bool m_expectsFailures;
    TransportObserver* m_observer{nullptr};
    std::vector<bool> m_down;                      //!< by LinkId; empty while all are up
    std::unordered_map<LinkId, Rate> m_rates;      //!< that SetLinkRate gave
    std::map<uint64_t, UnderWay> m_underWay;       //!< by TransferId; ordered
    std::unordered_map<PathId, PathId> m_repaired; //!< since links last went or came
};

} // namespace weir

#endif // WEIR_SCENARIOS_RUNNING_REROUTING_TRANSPORT_H
