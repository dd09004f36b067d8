// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_REPLAY_REPLAY_TRANSPORT_H
#define WEIR_FABRIC_TRANSPORT_REPLAY_REPLAY_TRANSPORT_H

#include "fabric/routing/routing.h"
#include "fabric/transport/flow-slots.h"
#include "fabric/transport/packet/packet-transport.h"
#include "fabric/transport/replay/episode-memo.h"
#include "fabric/transport/replay/route-facts.h"
#include "fabric/transport/replay/settling-packets.h"
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

/** Counters of replays. */
struct ReplayCounters
{
    uint64_t episodes{0};       //!< episodes that have ended
    uint64_t replayed{0};       //!< episodes replayed without a packet
    uint64_t flows{0};          //!< flows that have ended
    uint64_t replayedFlows{0};  //!< flows replayed from the memo
    uint64_t periods{0};        //!< periods replayed after a recurrence in the same episode
    uint64_t moves{0};          //!< shifts of episodes to the times of known ones, within the
                                //!< tolerance
    int64_t largestMove{0};     //!< largest total shift of an episode, ps
    uint64_t events{0};         //!< events of packets
    uint64_t repeatedEvents{0}; //!< events repeated to return from replay to packets
    SettledCounters settled;    //!< counters of averaging, of episodes whose packets were freed
};

/**
 * Simulates packets in episodes, and replays known episodes without packets (co-simulation in
 * time).
 *
 * An **episode** is the activity of flows that load common links, from the start of the first flow
 * until no flow is active. A link that has become quiet earlier may join another episode. Each
 * episode is simulated by its own PacketTransport. Its notifications are stored by the times and
 * the order of its flow starts (EpisodeMemo). An episode that starts equally, here or on other
 * links of the same kinds, replays the stored notifications without packets. Where it deviates, it
 * is simulated from its start to that point, and then onwards. Episodes that a new flow joins are
 * merged similarly.
 *
 * Activity that repeats itself without becoming quiet is replayed too (Recurrence): the episode is
 * treated as one that started a period later. Its packets are parked meanwhile, until they are
 * needed again. With a tolerance, activity that has settled on average is also replayed
 * (SettlingPackets).
 *
 * Equality is exact: starts at the same relative picoseconds, of the same bytes, on links of the
 * same kinds. Neglected effects:
 * - a queue pair forgets its congestion state when its episode ends, and a port whose turn it is;
 * - ports of a switch share its buffer within an episode, not with other episodes;
 * - marks are sampled once for all replays.
 *
 * Where a tolerance shifts notifications, no flow ends sooner than it would in isolation.
 *
 * After a link changes or a flow is canceled, all active flows form one episode, which is not
 * stored. The same applies for the rest of the run once events that were repeated to return to
 * packets exceed both FREE_EVENTS and half of all events.
 */
class ReplayTransport final : public Transport
{
  public:
    /**
     * @p routing must outlive it.
     * @throws std::invalid_argument as PacketTransport.
     */
    ReplayTransport(Routing& routing, PacketSpec spec);
    ~ReplayTransport() override;
    ReplayTransport(const ReplayTransport&) = delete;
    ReplayTransport& operator=(const ReplayTransport&) = delete;

    Time NextEventTime() override;
    void AdvanceTo(Time now) override;
    Time AdvanceExclusively(Time limit) override;

    /** @throws std::invalid_argument as PacketTransport. */
    FlowId Start(const FlowRequest& request, Time now) override;
    void SetLinkRate(LinkId link, Rate rate, Time now) override;
    void SetLinksUp(const std::vector<LinkId>& links, bool up, Time now) override;

    bool IsLinkUp(LinkId link) const override
    {
        return m_routing.IsUsable(link);
    }

    bool Cancel(FlowId id, Time now) override;

    /** Zero for a flow that is replayed. */
    Rate CurrentRate(FlowId id) override;
    FlowPath CurrentPath(FlowId id) override;

    /** Replayed traffic counts at the end of its episode. */
    LinkUsage GetLinkUsage(LinkId link) override;
    const PortCounters* GetPortCounters(LinkId link) override;

    /** Counters of a flow that has ended at this instant. */
    const FlowCounters* GetFlowCounters(FlowId id) override;

    Time UncontendedTime(const FlowRequest& request, PathId path) override
    {
        return m_uncontended.UncontendedTime(request, path);
    }

    std::size_t ActiveFlows() const override
    {
        return m_active;
    }

    std::vector<StalledFlow> StalledFlows() override;
    std::string DescribeWaiting() const override;

    /** As PacketTransport. */
    const PacketTransport::IdlePath& LongestIdlePath() const
    {
        return m_uncontended.LongestIdlePath();
    }

    const ReplayCounters& GetCounters() const
    {
        return m_counters;
    }

  private:
    static constexpr uint32_t NONE = EpisodeMemo::NONE;

    /** Events that returns to packets may cost before they are compared with the total. */
    static constexpr uint64_t FREE_EVENTS = 20'000'000;

    struct Episode;

    /** The packets of an episode, in time relative to its start. */
    class Packets;

    /** A flow of an episode. */
    struct Input
    {
        FlowRequest request;
        FlowId id;
        uint32_t slot{NONE};   //!< index into m_slots, until the flow is done
        int64_t start{0};      //!< start time, ps
        int64_t time{0};       //!< start time relative to its episode, ps
        uint32_t state{NONE};  //!< memo state reached by its start
        FlowCounters counters; //!< counters, once it is done
        bool isSent{false};    //!< its client was told that it is sent
        bool isDone{false};    //!< its client was told that it is done
        bool isStalled{false};
    };

    /** A quiet link taken over from another episode. */
    struct Taken
    {
        uint64_t serial{0}; //!< serial of that episode
        uint32_t kind{0};   //!< kind of the link
        int64_t gap{0};     //!< time for which the link had been quiet, ps
    };

    /**
     * An episode. Events of one instant have a fixed order, whatever the order of calls: first
     * packets, then notifications by flow, then starts by connection.
     */
    struct Episode
    {
        uint32_t number{0};
        uint64_t serial{0};            //!< unique id; numbers are reused
        std::vector<uint64_t> serials; //!< serials of this episode and of those merged into it
        std::vector<Taken> taken;
        std::vector<uint32_t> lost; //!< links taken over by other episodes
        bool hasPassed{false};      //!< it has skipped a period, so that flows have later times in
                                    //!< it than their starts
        int64_t begin{0};           //!< ps; shifted where it replays an episode with other times
        int64_t moved{0};           //!< total shift, ps
        std::vector<Input> inputs;
        uint32_t walked{0};   //!< number of inputs that have led to a state
        uint32_t open{0};     //!< number of inputs before the first that is not done, at least
        uint32_t injected{0}; //!< number of inputs started in its packets
        EpisodeNames names;
        std::vector<uint32_t> links;             //!< its links
        uint32_t state{EpisodeMemo::ROOT};       //!< memo state after the walked inputs
        uint32_t packetState{EpisodeMemo::ROOT}; //!< memo state after the injected inputs
        uint32_t nextNotification{0};            //!< index into State::told
        int64_t reached{0};                      //!< time reached by its packets, relative to its
                                                 //!< start, ps
        uint32_t unfinished{0};                  //!< number of flows not done
        bool isKept{true};                       //!< it is stored in the memo
        bool isSimulated{false};                 //!< it needs packets, which may still have to
                                                 //!< catch up
        bool isToFlush{false};                   //!< it is in m_toFlush
        bool wasSimulated{false};
        std::unique_ptr<Packets> packets; //!< packets, while simulated
        std::unique_ptr<Packets> parked;  //!< parked packets, which may be needed again
        Recurrence recurrence;
        std::vector<EpisodeMemo::Told> news;   //!< notifications of its packets at this instant
        std::vector<EpisodeMemo::Told> toTell; //!< notifications due now
        std::vector<EpisodeMemo::Told> held;   //!< delayed ends of flows, at absolute ps
        int64_t due{EpisodeMemo::NEVER};       //!< time in m_due, absolute ps
    };

    /** Where a flow is. */
    struct Slot
    {
        uint64_t id{0};
        uint32_t episode{NONE};
        uint32_t input{0};
    };

    /** Load of a link. */
    struct LinkState
    {
        uint32_t episode{NONE}; //!< last episode on the link
        uint32_t flows{0};      //!< active flows
        int64_t quiet{0};       //!< ps: by then the acknowledgments of all ended flows have arrived
    };

    Episode& NewEpisode(int64_t begin);
    bool IsQuiet(uint32_t link, int64_t now) const;
    bool LoadsAny(RouteId route, const std::vector<uint32_t>& links);
    void LearnPatience(const std::vector<uint32_t>& parts);
    void LeaveLinks(RouteId route, int64_t now);
    Episode& EpisodeFor(const FlowRequest& request, int64_t now);
    Episode& Merge(const std::vector<uint32_t>& numbers);
    Episode* Unify();
    void RequestFlush(Episode& episode);
    void Flush();
    void Flush(Episode& episode);
    void SortBatch(Episode& episode, std::size_t first, std::size_t last);
    void Walk(Episode& episode, Input& input);
    bool Follows(Episode& episode);
    int64_t PatienceOf(const Episode& episode) const;
    int64_t MayMove(const Episode& episode, const Input& input) const;
    void Move(Episode& episode, int64_t by);
    void PassTold(Episode& episode, int64_t until);
    void PassOn(Episode& episode, EpisodeMemo::Told told);
    void PassHeld(Episode& episode);

    /** Memo state before the input at index @p input. */
    static uint32_t StateBefore(const Episode& episode, std::size_t input)
    {
        return input == 0 ? EpisodeMemo::ROOT : episode.inputs[input - 1].state;
    }

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
    Rate RateOf(LinkId link) const;
    bool IsAlive(uint32_t number, uint64_t serial) const;
    const Input* FindInput(FlowId id) const;

    Routing& m_routing;
    PacketSpec m_spec;
    PacketTransport m_uncontended; //!< carries no flows; computes uncontended times
    EpisodeMemo m_memo;
    RouteFacts m_routes;
    std::vector<std::unique_ptr<Episode>> m_episodes; //!< by number
    std::vector<uint32_t> m_freeEpisodes;
    std::vector<LinkState> m_links;
    std::unordered_map<uint32_t, int64_t> m_patience; //!< by kind of link: ps, see IsQuiet
    std::set<std::pair<int64_t, uint32_t>> m_due;
    std::vector<std::pair<uint32_t, uint64_t>> m_toFlush;          //!< numbers and serials of
                                                                   //!< episodes
    std::unordered_map<uint32_t, std::vector<uint32_t>> m_waiting; //!< by memo state: numbers of
                                                                   //!< waiting episodes
    FlowSlots<FlowForm::Packets, std::vector<Slot>> m_slots;
    std::vector<PortCounters> m_ended;            //!< by link: counters of ended episodes
    PortCounters m_asked;                         //!< last result of GetPortCounters
    std::vector<std::pair<LinkId, Rate>> m_rates; //!< changed rates of links
    std::vector<LinkId> m_down;
    uint32_t m_whole{NONE}; //!< episode that all flows join; NONE if there is none
    bool m_isWhole{false};  //!< m_whole is used for the rest of the run
    uint64_t m_serials{0};
    std::size_t m_active{0};
    Time m_now;
    bool m_hasTold{false};
    ReplayCounters m_counters;
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_REPLAY_REPLAY_TRANSPORT_H
