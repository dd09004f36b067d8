// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_REPLAY_REPLAY_TRANSPORT_H
#define WEIR_FABRIC_TRANSPORT_REPLAY_REPLAY_TRANSPORT_H

#include "fabric/routing/routing.h"
#include "fabric/transport/packet/packet-transport.h"
#include "fabric/transport/replay/episode-memo.h"
#include "fabric/transport/replay/recurrence.h"
#include "fabric/transport/replay/route-facts.h"
#include "fabric/transport/replay/settling-packets.h"
#include "fabric/transport/transport-observers.h"
#include "fabric/transport/transport.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weir
{

/** What replays have saved. */
struct ReplayCounters
{
    uint64_t episodes{0};       //!< that have ended
    uint64_t replayed{0};       //!< of these, without a packet
    uint64_t flows{0};          //!< that have ended
    uint64_t replayedFlows{0};  //!< of these, told from memory
    uint64_t periods{0};        //!< that were replayed for what packets did just before
    uint64_t moves{0};          //!< of episodes to the times of known ones, by the tolerance
    int64_t largestMove{0};     //!< of an episode in all, ps
    uint64_t events{0};         //!< of packets
    uint64_t repeatedEvents{0}; //!< of these, to get from memory to where packets were needed
    SettledCounters settled;    //!< what was averaged, of episodes whose packets are gone
};

/**
 * Packets in episodes that are replayed where they are known (co-simulation in time).
 *
 * An **episode** is what flows do that load common links, from the first one's start until nothing
 * of them is under way. A link that has become quiet before may be another episode's next. Each is
 * simulated by a PacketTransport of its own, and what it tells is kept by when and in which order
 * its flows started (EpisodeMemo). One that begins alike, here or over other links of the same
 * kinds, is told what was told then, without a packet. Where it goes on otherwise it is simulated
 * from its beginning up to there, then further; episodes that a new flow joins become one in the
 * same way.
 *
 * What repeats itself without a rest is told from memory, too (Recurrence): the episode is taken
 * for one that began a period later. Its packets are parked meanwhile, and are there when they are
 * needed. With a tolerance, so is what has settled on average (SettlingPackets).
 *
 * Alike is exact: starts at the same picoseconds from each other, of the same bytes, on links that
 * are alike. What is neglected:
 *  - a queue pair forgets what it knew of congestion when its episode ends;
 *  - ports of a switch share its buffer within an episode, not with other ones;
 *  - marks are drawn once for all replays.
 *
 * Where a tolerance moves what is told, no flow ends sooner than it would uncontended.
 *
 * After a link changes or a flow is cancelled, all that is under way is one episode, which is not
 * kept. So it is from then on for good when returning to packets has cost more than packets.
 */
class ReplayTransport final : public Transport
{
  public:
    /** @p routing must outlive it. @throws std::invalid_argument as PacketTransport. */
    ReplayTransport(Routing& routing, PacketSpec spec);
    ~ReplayTransport() override;
    ReplayTransport(const ReplayTransport&) = delete;
    ReplayTransport& operator=(const ReplayTransport&) = delete;

    Time NextEventTime() override;
    void AdvanceTo(Time now) override;
    Time AdvanceAlone(Time limit) override;

    /** @throws std::invalid_argument as PacketTransport. */
    FlowId Start(const FlowRequest& request, Time now) override;
    void SetLinkRate(LinkId link, Rate rate, Time now) override;
    void SetLinksUp(const std::vector<LinkId>& links, bool up, Time now) override;
    bool IsLinkUp(LinkId link) const override;
    bool Cancel(FlowId id, Time now) override;

    /** Nothing of a flow that is replayed. */
    Rate CurrentRate(FlowId id) override;
    FlowPath CurrentPath(FlowId id) override;

    /** Nothing of what is replayed. */
    Rate CurrentLinkRate(LinkId link) override;

    /** What is replayed counts at the end of its episode. */
    LinkUsage GetLinkUsage(LinkId link) override;
    const PortCounters* GetPortCounters(LinkId link) override;

    /** Of a flow that ends just now. */
    const FlowCounters* GetFlowCounters(FlowId id) override;

    bool Moves(FlowForm form) const override
    {
        return form == FlowForm::Packets;
    }

    FlowForm FormOf(const FlowRequest& /* request */) override
    {
        return FlowForm::Packets;
    }

    Time UncontendedTime(const FlowRequest& request, PathId path) override
    {
        return m_alone.UncontendedTime(request, path);
    }

    std::size_t ActiveFlows() const override
    {
        return m_active;
    }

    std::vector<StalledFlow> StalledFlows() override;
    std::string DescribeWaiting() const override;
    void AddObserver(TransportObserver& observer, bool linkRates) override;
    void RemoveObserver(TransportObserver& observer) override;

    /** As PacketTransport. */
    const PacketTransport::IdlePath& LongestIdlePath() const
    {
        return m_alone.LongestIdlePath();
    }

    const ReplayCounters& GetCounters() const
    {
        return m_counters;
    }

  private:
    static constexpr uint32_t NONE = EpisodeMemo::NONE;
    static constexpr unsigned INDEX_BITS = 24; //!< as PacketTransport
    static constexpr uint64_t INDEX_MASK = (uint64_t{1} << INDEX_BITS) - 1;

    /** Events that returning to packets may cost before it is looked at what it has saved. */
    static constexpr uint64_t FREE_EVENTS = 20'000'000;

    struct Episode;

    /** An episode's packets, in its time, which begins with it. */
    class Packets;

    /** A flow in its episode. */
    struct Input
    {
        FlowRequest request;
        uint32_t slot{NONE};   //!< of m_slots, until it is done
        uint64_t order{0};     //!< of all flows
        int64_t start{0};      //!< ps
        int64_t time{0};       //!< of its start, in its episode
        uint32_t state{NONE};  //!< of the memo, that it led to
        FlowCounters counters; //!< once it is done
        bool isSent{false};    //!< its client was told so
        bool isDone{false};    //!< its client was told this
        bool isStalled{false};
    };

    /** A quiet link of another episode. */
    struct Taken
    {
        uint64_t serial{0}; //!< of that
        uint32_t kind{0};   //!< of the link
        int64_t gap{0};     //!< ps for which it had been quiet
    };

    /**
     * What happens at one instant has an order of its own, whatever the order of calls: first what
     * packets do, then what is told, by flow, then what is started, by connection.
     */
    struct Episode
    {
        uint32_t number{0};
        uint64_t serial{0};            //!< tells apart those of one number
        std::vector<uint64_t> serials; //!< of this and of those that it was merged of
        std::vector<Taken> taken;
        std::vector<uint32_t> lost; //!< links that others have taken
        bool hasPassed{false};      //!< a period: flows are later in it than they have started
        int64_t begin{0};           //!< ps; moved where it is told what was told at other times
        int64_t moved{0};           //!< by that much in all, ps
        std::vector<Input> inputs;
        uint32_t walked{0};   //!< of these, those that have led to a state
        uint32_t open{0};     //!< of these, those before the first that is not done, at least
        uint32_t injected{0}; //!< of these, those that its packets know
        EpisodeNames names;
        std::vector<uint32_t> links;             //!< that are its own
        uint32_t state{EpisodeMemo::ROOT};       //!< where the walked ones have led to
        uint32_t packetState{EpisodeMemo::ROOT}; //!< where the injected ones have led to
        uint32_t place{0};                       //!< what comes next of what was told in that state
        int64_t reached{0};                      //!< by its packets, ps in its time
        uint32_t unfinished{0};                  //!< flows
        bool isKept{true};                       //!< in the memo
        bool isSimulated{false};                 //!< by packets, which may have to be caught up yet
        bool isToFlush{false};                   //!< is in m_toFlush
        bool wasSimulated{false};
        std::unique_ptr<Packets> packets; //!< while they are simulated
        std::unique_ptr<Packets> parked;  //!< that may be needed again, instead of those
        Recurrence recurrence;
        std::vector<EpisodeMemo::Told> news;   //!< of its packets, of this instant
        std::vector<EpisodeMemo::Told> toTell; //!< now
        std::vector<EpisodeMemo::Told> held;   //!< that flows are done, at ps since the run's start
        int64_t due{EpisodeMemo::NEVER};       //!< ps of all, as m_due has it
    };

    /** By the low bits of a FlowId. */
    struct Slot
    {
        uint64_t id{0};
        Time started;
        uint32_t episode{NONE};
        uint32_t input{0};
        bool isUsed{false};
    };

    /** What loads a link. */
    struct LinkState
    {
        uint32_t episode{NONE}; //!< the last one
        uint32_t flows{0};      //!< under way
        int64_t quiet{0};       //!< ps: the acknowledgments of all others have come by then
    };

    Episode& NewEpisode(int64_t begin);
    bool IsQuiet(uint32_t link, int64_t now) const;
    bool LoadsAny(RouteId route, const std::vector<uint32_t>& links);
    void LearnPatience(const std::vector<uint32_t>& parts);
    void LeaveLinks(RouteId route, int64_t now);
    Episode& EpisodeFor(const FlowRequest& request, int64_t now);
    Episode& Merge(const std::vector<uint32_t>& numbers);
    Episode* Unify();
    void Flush();
    void Flush(Episode& episode);
    void SortBatch(Episode& episode, std::size_t first, std::size_t last);
    void Walk(Episode& episode, Input& input);
    bool HasDownLink(RouteId route);
    bool Follows(Episode& episode);
    int64_t PatienceOf(const Episode& episode) const;
    int64_t MayMove(const Episode& episode, const Input& input) const;
    void Move(Episode& episode, int64_t by);
    void PassTold(Episode& episode, int64_t until);
    void PassOn(Episode& episode, EpisodeMemo::Told told);
    void PassHeld(Episode& episode);
    static uint32_t StateBefore(const Episode& episode, std::size_t input);
    static uint32_t FirstOpen(Episode& episode);
    void FindPeriod(Episode& episode, std::size_t first);
    void PassPeriod(Episode& episode, std::size_t first);
    void Drop(std::unique_ptr<Packets>& packets);
    void Enter(Episode& episode, uint32_t state);
    void StopLeading(Episode& episode);
    void Forget(Episode& episode);
    void Simulate(Episode& episode);
    static bool CanResume(const Episode& episode);
    void CatchUp(Episode& episode);
    void Advance(Episode& episode, int64_t until);
    void Inject(Episode& episode);
    void KeepNews(Episode& episode);
    void OnStalled(Episode& episode, uint32_t input, bool isStalled);
    void Serve(Episode& episode, int64_t now);
    void TellAll(Episode& episode, int64_t now);
    void Tell(Episode& episode, const EpisodeMemo::Told& told, int64_t now);
    void GoOn(Episode& episode);
    void SetDue(Episode& episode, int64_t due);
    void Notify(uint32_t state);
    void End(Episode& episode, int64_t now);
    void Retire(Episode& episode);
    void Release(uint32_t number);
    Rate RateOf(LinkId link) const;
    bool IsAlive(uint32_t number, uint64_t serial) const;
    uint32_t SlotOf(FlowId id) const;

    Routing& m_routing;
    PacketSpec m_spec;
    PacketTransport m_alone; //!< carries nothing; knows what flows take alone
    EpisodeMemo m_memo;
    RouteFacts m_routes;
    std::vector<std::unique_ptr<Episode>> m_episodes; //!< by number
    std::vector<uint32_t> m_freeEpisodes;
    std::vector<LinkState> m_links;
    std::unordered_map<uint32_t, int64_t> m_patience; //!< ps, by kind of link; see IsQuiet
    std::set<std::pair<int64_t, uint32_t>> m_due;
    std::vector<std::pair<uint32_t, uint64_t>> m_toFlush;          //!< numbers and serials
    std::unordered_map<uint32_t, std::vector<uint32_t>> m_waiting; //!< episodes by memo state
    std::vector<Slot> m_slots;
    std::vector<uint32_t> m_freeSlots;
    std::vector<PortCounters> m_ended;            //!< by link: of episodes that have ended
    PortCounters m_asked;                         //!< what GetPortCounters returned last
    std::vector<std::pair<LinkId, Rate>> m_rates; //!< of links that were given others
    std::vector<LinkId> m_down;
    uint32_t m_whole{NONE}; //!< the episode that all flows join
    bool m_isWhole{false};  //!< there is one at any time
    uint64_t m_started{0};
    uint64_t m_serials{0};
    std::size_t m_active{0};
    Time m_now;
    bool m_hasTold{false};
    ReplayCounters m_counters;
    TransportObservers m_observers;
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_REPLAY_REPLAY_TRANSPORT_H
