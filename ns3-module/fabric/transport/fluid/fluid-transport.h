// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_FLUID_TRANSPORT_H
#define WEIR_FABRIC_FLUID_TRANSPORT_H

#include "fabric/routing/path-table.h"
#include "fabric/sharing/indexed-heap.h"
#include "fabric/sharing/pairing-heap.h"
#include "fabric/sharing/service-clock.h"
#include "fabric/sharing/sharing-solver.h"
#include "fabric/transport/fluid/instant-queue.h"
#include "fabric/transport/fluid/link-meter.h"
#include "fabric/transport/transport.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace weir
{

/**
 * Bytes as fluid: transfers share links weighted max-min fairly, with rate caps.
 *
 * Transfers that share path, cap and weight are one *bundle*, one variable of the solver. Bundles
 * with the same bottleneck link are one *group*: all of them are served at the link's level, so a
 * group has one clock, and one timer for the first of its transfers to end. A bundle that is alone
 * on its links or at its cap has a clock and a timer of its own.
 *
 * Whatever happens at one instant is solved once, when a later instant or a rate is asked for; a
 * transfer that starts where an equal one ends leaves nothing to solve. A transfer ends at the
 * picosecond nearest to where its last byte passes; all that end in one picosecond end together, in
 * the order of their starts.
 *
 * Cost: O(log n) to start and to end one of n transfers in a bundle or group, O(1) for bundles in
 * lock-step, plus the solve (MaxMin). About 150 bytes a transfer, and 250 plus 60 per link a
 * bundle.
 */
class FluidTransport final : public Transport
{
  public:
    explicit FluidTransport(PathTable& paths);
    FluidTransport(const FluidTransport&) = delete;
    FluidTransport& operator=(const FluidTransport&) = delete;

    Time NextEventTime() override;

    /** @throws std::invalid_argument when @p now is in the past or would skip an event. */
    void AdvanceTo(Time now) override;

    TransferId Start(const TransferRequest& request, Time now) override;

    /** @throws std::invalid_argument when the link does not exist or the rate is negative. */
    void SetLinkRate(LinkId link, Rate rate, Time now) override;

    /** @throws std::invalid_argument when the path does not exist. */
    bool SetPath(TransferId id, PathId path, Time now) override;
    bool Cancel(TransferId id, Time now) override;
    Rate CurrentRate(TransferId id) override;
    Rate CurrentLinkRate(LinkId link) override;
    LinkUsage GetLinkUsage(LinkId link) override;

    std::size_t ActiveTransfers() const override
    {
        return m_active;
    }

    void SetObserver(TransportObserver* observer, bool linkRates) override;

  private:
    static constexpr uint32_t NONE = 0xffffffff;

    enum class State : uint8_t
    {
        Unused,
        Delayed, //!< in its start-up delay
        Moving,
        Done //!< ended, its client not yet told
    };

    struct Transfer
    {
        uint64_t id{0};
        int64_t bytes{0}; //!< to move on this path
        double due{0};    //!< done when its bundle has been served this (bytes per weight)
        double left{0};   //!< when delayed: bytes it will start with
        TransferClient* client{nullptr};
        uint64_t token{0};
        int64_t size{0}; //!< bytes of the request
        Time started;
        Time latency;
        uint32_t bundle{NONE};
        State state{State::Unused};
        PairingNode inBundle;
        InstantNode inDelays;
    };

    /** Transfers of one path, cap and weight. */
    struct Bundle
    {
        PathId path;
        uint32_t nextOfPath{NONE}; //!< another bundle on this path
        double weight{1};          //!< of each transfer
        double cap{0};             //!< bytes/s, of each transfer
        uint32_t users{0};         //!< transfers that are moving, delayed, or done but not told
        uint32_t moving{0};
        uint32_t first{NONE}; //!< heap of moving transfers, the first to end on top
        uint32_t group{NONE}; //!< the link whose clock it follows; NONE: its own
        double offset{0};     //!< what it has been served is the clock plus this
        double key{0};        //!< in the heap of its group: clock value when the first ends
        ServiceClock clock;   //!< its own
        PairingNode inGroup;
        InstantNode inTimers;
        bool isInGroupHeap{false};
        bool isStale{false};  //!< its timer is not right
        bool isQueued{false}; //!< is in m_idleQueue
        int64_t carried{0};   //!< bytes done, not yet added to its links' meters
        double aloneRate{0};  //!< bytes/s when alone on its links
        double aloneFull{0};  //!< the last such rate that was not zero
        Time aloneSince;
        Time aloneBusy; //!< time at aloneFull, not yet added to its links' meters
    };

    /** Bundles that have one bottleneck link. */
    struct Group
    {
        ServiceClock clock;
        uint32_t first{NONE};     //!< heap of bundles, the first to end a transfer on top
        uint32_t bundles{0};      //!< that follow the clock
        double timedRate{0};      //!< no rate of the clock up to this makes its timer too late
        bool isTimedEarly{false}; //!< its timer may be too early
        bool isStale{false};      //!< its timer is not right
    };

    struct TransferItems
    {
        std::vector<Transfer>* transfers;

        PairingNode& Node(uint32_t i) const
        {
            return (*transfers)[i].inBundle;
        }

        bool Before(uint32_t a, uint32_t b) const
        {
            const Transfer& x = (*transfers)[a];
            const Transfer& y = (*transfers)[b];
            return x.due < y.due || (x.due == y.due && x.id < y.id);
        }
    };

    struct BundleItems
    {
        std::vector<Bundle>* bundles;

        PairingNode& Node(uint32_t i) const
        {
            return (*bundles)[i].inGroup;
        }

        bool Before(uint32_t a, uint32_t b) const
        {
            const double x = (*bundles)[a].key;
            const double y = (*bundles)[b].key;
            return x < y || (x == y && a < b);
        }
    };

    struct DelayItems
    {
        std::vector<Transfer>* transfers;

        InstantNode& Node(uint32_t i) const
        {
            return (*transfers)[i].inDelays;
        }
    };

    struct TimerItems
    {
        std::vector<Bundle>* bundles;

        InstantNode& Node(uint32_t i) const
        {
            return (*bundles)[i].inTimers;
        }
    };

    // Transfers and their bundles (fluid-bundles.cc).
    uint32_t NewTransfer();
    void FreeTransfer(uint32_t transfer);
    uint32_t Find(TransferId id) const;
    TransferRequest RequestOf(const Transfer& transfer) const;
    uint32_t BundleFor(PathId path, double cap, double weight);
    void Release(uint32_t bundle);
    std::size_t IdleLimit() const;
    void Retire();
    void Enter(uint32_t transfer, double bytes);
    double Leave(uint32_t transfer);
    double ServedOf(const Bundle& bundle) const;
    double LeftOf(const Transfer& transfer) const;
    void Rebase(uint32_t bundle);
    void SetStale(uint32_t bundle);

    // Time (fluid-transport.cc).
    void MoveTo(Time now);
    Time FirstTimer() const;
    void EndDelays();
    void EndTransfers(uint32_t bundle, const ServiceClock& clock, double offset);
    void EndTransfersOfGroup(uint32_t link);
    void Tell();

    // The solve and what follows from it (fluid-settle.cc).
    void Settle();
    void Regroup(uint32_t bundle);
    void SetGroupLevel(uint32_t link);
    void SetTimer(uint32_t bundle);
    void SetGroupTimer(uint32_t link);
    void TimeGroup(uint32_t link, Time time);
    Time TimeOfGroup(const Group& group) const;
    void MakeFirstGroupTimerExact();
    void SetGroupStale(uint32_t link);

    // Usage of links (fluid-usage.cc).
    void MeterLink(uint32_t link);
    void MeterAlone(uint32_t bundle);
    void AddAloneTime(Bundle& bundle);
    void AddCarried(uint32_t bundle);
    double LoadOf(uint32_t link) const;

    PathTable& m_paths;
    SharingSolver m_solver;
    std::vector<Transfer> m_transfers;
    std::vector<uint32_t> m_unusedTransfers;
    std::vector<Bundle> m_bundles;        //!< by variable of the solver
    std::vector<uint32_t> m_bundleOfPath; //!< by path: its first bundle
    std::vector<Group> m_groups;          //!< by link
    std::vector<LinkMeter> m_meters;      //!< by link
    InstantQueue<DelayItems> m_delays;    //!< transfers in their start-up delay
    InstantQueue<TimerItems> m_timers;    //!< bundles with clocks of their own
    IndexedHeap<Time> m_groupTimers;      //!< by link
    std::vector<uint32_t> m_staleBundles;
    std::vector<uint32_t> m_staleGroups;
    std::deque<uint32_t>
        m_idleQueue;       //!< bundles that came to be idle, oldest first; some are in use again
    std::size_t m_idle{0}; //!< bundles without transfers
    std::size_t m_bundleCount{0}; //!< bundles, idle ones included
    std::vector<uint32_t> m_done; //!< transfers that ended at this instant
    uint64_t m_started{0};        //!< transfers, since the beginning
    std::size_t m_active{0};
    Time m_now;
    bool m_isSettled{true}; //!< levels and timers are right
    TransportObserver* m_observer{nullptr};
    bool m_observesRates{false};
};

} // namespace weir

#endif // WEIR_FABRIC_FLUID_TRANSPORT_H
