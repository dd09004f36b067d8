// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_QUEUE_PAIRS_H
#define WEIR_FABRIC_TRANSPORT_PACKET_QUEUE_PAIRS_H

#include "fabric/transport/packet/event-wheel.h"
#include "fabric/transport/packet/packet-counters.h"
#include "fabric/transport/packet/packet-network.h"
#include "fabric/transport/packet/packet-spec.h"
#include "fabric/transport/packet/packet.h"
#include "fabric/transport/packet/queue-pair-state.h"

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

namespace weir
{

/** Is told what becomes of messages. */
class MessageClient
{
  public:
    virtual ~MessageClient() = default;

    /** The last packet of a message has begun to leave, for the first time. */
    virtual void OnMessageSent(uint32_t message, int64_t now) = 0;

    /** A message has ended, as QueuePairSpec::flowEnd says. */
    virtual void OnMessageDone(uint32_t message, int64_t now) = 0;

    /** Where to count what packets of a message meet that its receiver does not have whole yet. */
    virtual FlowCounters& CountersOf(uint32_t message) = 0;
};

/** What queue pairs have done since the beginning. */
struct QueuePairCounters
{
    uint64_t dataPackets{0}; //!< sent, retransmissions included
    uint64_t retransmissions{0};
    uint64_t acknowledgments{0};
    uint64_t lost{0};
    uint64_t timeouts{0};
};

/**
 * Both ends of reliable connections: senders that cut messages into packets and pace them as their
 * congestion control says, receivers that acknowledge them and ask for lost ones again.
 *
 * Messages of a queue pair are sent in the order in which they are posted. A port takes packets of
 * its queue pairs in turns (round robin by number), of those whose window has room and whose time
 * has come; the next time is the size of the last packet over the rate later, and moves when the
 * rate changes.
 */
class QueuePairs : public PacketEnds
{
  public:
    /** All must outlive it. */
    QueuePairs(const PacketSpec& spec,
               EventWheel& events,
               PacketPool& packets,
               MessageClient& client);

    /** Must be called before anything else. */
    void SetNetwork(PacketNetwork& network);

    /** A path there and back, as places of PacketNetwork::AddHops. */
    struct Path
    {
        uint32_t forward;
        uint32_t back; //!< END: acknowledgments come back without taking links
    };

    /** Adds a queue pair of a traffic class; its packets take @p paths in turns. */
    uint32_t Open(std::vector<Path> paths, const ConnectionFacts& facts, uint8_t trafficClass);

    /**
     * As above, of a link alone whose packets need no acknowledgment: they are counted at its end.
     */
    uint32_t OpenLink(uint32_t place, const ConnectionFacts& facts, uint8_t trafficClass);

    /** Packets take other paths from now on; none: it must wait. */
    void SetPaths(uint32_t pair, std::vector<Path> paths, int64_t now);

    /**
     * How fast its bytes come to be there, bytes of payload a second: a packet is sent when all of
     * it is. Infinite: they are when posted.
     */
    void SetCap(uint32_t pair, double bytesPerSecond)
    {
        m_pairs[pair]->cap = bytesPerSecond;
    }

    /** Has @p bytes sent behind what was posted before. */
    void Post(uint32_t pair, uint32_t message, int64_t bytes, int64_t now);

    /** Packets of a message that are not sent yet are not: it ends with what has been sent. */
    void Withdraw(uint32_t pair, uint32_t message, int64_t now);

    /** Payload bytes of a message that its receiver does not have. */
    int64_t BytesLeft(uint32_t pair, uint32_t message) const;

    /** Whether a message has packets that were never sent. */
    bool HasUnsent(uint32_t pair, uint32_t message) const;

    /**
     * Makes a message that HasUnsent longer or shorter, until its receiver lacks @p left payload
     * bytes, or what has been sent of them.
     */
    void SetBytesLeft(uint32_t pair, uint32_t message, int64_t left, int64_t now);

    uint32_t NextPacket(uint32_t link, unsigned trafficClass, int64_t now) override;
    void OnPacket(uint32_t packet, int64_t now) override;
    void OnLost(uint32_t packet, int64_t now) override;
    void Prefetch(const Packet& packet) const override;
    void PrefetchNext(uint32_t link, unsigned trafficClass) const override;

    std::size_t Waiting(uint32_t link, unsigned trafficClass) const override
    {
        return m_turns[PlaceOf(link, trafficClass)].waiting.size();
    }

    void OnPace(uint32_t pair, int64_t now);
    void OnTimer(uint32_t pair, int64_t now);

    /** A receiver gives one of the senders that wait for it credit. */
    void OnCreditClock(uint32_t link, int64_t now);

    const QueuePairCounters& Counters() const
    {
        return m_counters;
    }

    std::size_t Size() const
    {
        return m_pairs.size();
    }

    /** Whether nothing of a queue pair is under way, or to be sent. */
    bool IsIdle(uint32_t pair) const
    {
        return m_pairs[pair]->inFlight == 0 && m_pairs[pair]->state == State::Idle;
    }

    bool HasSent(uint32_t pair) const
    {
        return m_pairs[pair]->highest > 0;
    }

    /** When a queue pair has sent its last packet, ps. */
    int64_t LastSent(uint32_t pair) const
    {
        return m_pairs[pair]->lastSent;
    }

    /**
     * Appends rate (bytes/s) and window (bytes) of each queue pair.
     * @return false where a congestion control waits for a time, or has not settled
     */
    bool AppendLevels(std::vector<double>& levels) const;

    /** A queue pair that sends the same again and again. */
    struct Livelock
    {
        uint32_t pair{0};
        uint64_t packet{0}; //!< the first one that never came, in the order of the queue pair
    };

    /**
     * One that has sent the same MAX_RETRIES times, since when nothing new was acknowledged of any:
     * so senders do whose packets meet in a lossy queue in the same order each time.
     */
    const std::optional<Livelock>& FindLivelock() const
    {
        return m_livelock;
    }

    /** Something else has changed: what was sent in vain may come. */
    void ForgetRetries()
    {
        m_retries = 0;
        m_livelock.reset();
    }

    /** InfiniBand gives up after 7; so many by chance would need a link that loses all. */
    static constexpr uint32_t MAX_RETRIES = 1000;

    /** What the congestion control lets a queue pair send now, bytes/s on the wire. */
    double RateOf(uint32_t pair) const;

    const ConnectionFacts& FactsOf(uint32_t pair) const
    {
        return m_pairs[pair]->facts;
    }

    /** Payload that a queue pair has sent, retransmissions included. */
    int64_t SentBytes(uint32_t pair) const
    {
        return m_pairs[pair]->sentBytes;
    }

  private:
    enum class State : uint8_t
    {
        Idle,     //!< nothing to send
        InTurn,   //!< waits for its turn at the port
        Pacing,   //!< waits for its time
        Windowed, //!< waits for acknowledgments
        Stalled   //!< has no path
    };

    struct Pair
    {
        // Of the sender.
        std::unique_ptr<SenderControl> control;
        MessageQueue messages;
        std::vector<Path> paths;
        uint64_t next{0};      //!< number of the packet to be sent next
        uint64_t acked{0};     //!< all before it are acknowledged
        uint64_t highest{0};   //!< all before it have been sent once
        int64_t inFlight{0};   //!< payload bytes
        int64_t nextSend{0};   //!< ps: as the pace says
        int64_t producedAt{0}; //!< ps: when what has been sent was there to be sent
        int64_t lastSent{0};   //!< ps
        int64_t progress{0};   //!< ps: when something was acknowledged last
        uint32_t retries{0};   //!< times that packets were sent again since then
        double cap;            //!< bytes/s
        double pacedRate{0};   //!< bytes/s on the wire that nextSend was computed with
        int64_t sentBytes{0};  //!< payload
        uint32_t lastSize{0};  //!< bytes on the wire
        SprayTurns turns;      //!< into paths
        uint32_t link{0};      //!< the first one
        State state{State::Idle};
        uint8_t trafficClass{1};
        bool isLink{false};          //!< OpenLink
        ReceivedSet sacked;          //!< Selective: beyond `acked`
        std::vector<uint64_t> again; //!< Selective: to be sent again, the first one last
        uint64_t searched{0};        //!< Selective: holes before it have been found lost
        ConnectionFacts facts;
        // Of the receiver.
        uint64_t expected{0};
        ReceivedSet received;          //!< Selective: beyond `expected`
        uint64_t nacked{~uint64_t{0}}; //!< the last number that was asked for again
        int64_t nackedAt{0};           //!< ps
        int64_t notifiedAt{-1};        //!< ps; -1: never
        uint32_t unacknowledged{0};    //!< packets since the last ACK
        int64_t ackBy{0};              //!< ps: when the first of them is answered
        int64_t stamp{0};              //!< ps: of the last one, less when it came
        bool isMarked{false};          //!< one of them was
        bool hasAsked{false};          //!< one that came out of order has asked for an ACK
        uint64_t came{0};              //!< the farthest packet since the last ACK
        uint64_t minArrived{0};        //!< the nearest one
        uint64_t newest{0};            //!< of those that came the one that is sent last
        uint32_t camePath{0};          //!< of the packet that came last
        bool asksCredit{false};        //!< waits at its receiver's clock
        bool isSated{false};           //!< its last packet that came was
        bool speculates{false};        //!< sends before the receiver has given credit
        bool hasRequested{false};      //!< credit
        // Of credit, payload bytes.
        double credit{std::numeric_limits<double>::infinity()}; //!< the sender may send still
        double expectedBytes{0};                                //!< will come: given, or speculated
        int64_t posted{0};                                      //!< since the beginning
        int64_t receivedBytes{0};                               //!< each packet once
    };

    /** The queue pairs that a receiver gives credit, by the link through which they come. */
    struct CreditClock
    {
        std::deque<uint32_t> asking;              //!< the next one first
        int64_t next{0};                          //!< ps: when the link has room for more
        std::unique_ptr<ReceiverControl> control; //!< null until a packet comes
    };

    /** Queue pairs that wait for a port in a class. */
    struct Turns
    {
        std::vector<uint32_t> waiting;    //!< ascending
        uint32_t last{0};                 //!< who sent last
        int64_t sent{0};                  //!< payload bytes, in its turn
        uint32_t bursts{0};               //!< those of them that stay inside a node
        uint32_t timed{0};                //!< PaceTimer::Port: whose Pace event is the timer
        int64_t timer{EventWheel::NEVER}; //!< ps: PaceTimer::Port
    };

    void OpenControl(Pair& pair);
    FlowCounters* CountersOf(Pair& pair, uint64_t number);
    double WindowOf(const Pair& pair) const;
    bool MaySend(Pair& pair) const;
    void Speculate(Pair& pair);
    void StopSpeculating(Pair& pair);
    void RequestCredit(uint32_t pair, int64_t now);
    double MissingCredit(const Pair& pair) const;
    void AskCredit(uint32_t pair, uint32_t bytes, int64_t now);
    void NoteArrival(Pair& pair, const Packet& packet, int64_t now);
    void NoteAnswer(const Pair& pair, uint32_t cause, uint32_t reply);
    uint64_t CameOf(const Pair& pair) const;
    void SendBack(uint32_t packet, int64_t now);
    double PaceOf(const Pair& pair) const;

    bool HasPackets(const Pair& pair) const
    {
        return !pair.again.empty() || pair.next < pair.messages.End();
    }

    static constexpr std::size_t NOBODY = ~std::size_t{0};

    std::size_t PlaceOf(uint32_t link, unsigned trafficClass) const
    {
        return std::size_t{link} * m_network->Classes() + trafficClass;
    }

    void Resume(uint32_t pair, int64_t now);
    void TakeTurn(uint32_t pair, int64_t now);
    void WakePort(uint32_t link, unsigned trafficClass, int64_t now);
    uint32_t NextInTurn(const Turns& turns, uint32_t last) const;
    uint32_t NextReady(const Turns& turns, int64_t now) const;
    void Leave(Turns& turns, uint32_t pair);
    void SetPortTimer(Turns& turns, uint32_t pair, int64_t time);
    void SetPortTimer(Turns& turns, int64_t now);
    void Repace(uint32_t pair, int64_t now);
    int64_t GapOf(const Pair& pair) const;
    int64_t SendTime(Pair& pair) const;
    void Account(uint32_t pair, int64_t now);
    void ScheduleTimer(uint32_t pair, int64_t now);
    void OnData(uint32_t packet, int64_t now);
    void OnTrimmed(uint32_t packet, int64_t now);
    void AskAgain(uint32_t packet, int64_t now);
    void OnAck(uint32_t packet, int64_t now);
    uint32_t Acknowledge(Pair& pair, uint64_t next);
    uint32_t AcknowledgeOne(Pair& pair, uint64_t number);
    uint32_t AcknowledgeBehind(Pair& pair, uint64_t came, uint64_t bits);
    void LetGo(Pair& pair, int64_t now);
    int64_t GoBack(Pair& pair, uint64_t next);
    int64_t SendAgain(Pair& pair, uint64_t number);
    int64_t FindLost(Pair& pair, uint64_t newest);
    void NoteRetry(uint32_t pair);
    void AwaitMore(uint32_t pair, int64_t now);
    static bool IsBeyondBits(const Pair& pair, uint64_t number);
    void AnswerLate(uint32_t pair, int64_t now);
    void Reply(uint32_t data, PacketKind kind, uint64_t number, int64_t now);
    void Deliver(Pair& pair, int64_t now);

    const PacketSpec& m_spec;
    EventWheel& m_events;
    PacketPool& m_packets;
    MessageClient& m_client;
    PacketNetwork* m_network{nullptr};
    std::vector<std::unique_ptr<Pair>> m_pairs; //!< clients add some while they are told of others
    std::vector<Turns> m_turns;                 //!< by link and class
    QueuePairCounters m_counters;
    uint64_t m_retries{0}; //!< of all, since something was acknowledged of any
    std::optional<Livelock> m_livelock;
    Time m_notificationInterval;
    bool m_wantsTelemetry;
    uint32_t m_creditPackets;
    bool m_ackBitmap;                        //!< see QueuePairSpec; not of links
    bool m_notesPaths;                       //!< whether answers say what paths they are of
    bool m_sendsWithin;                      //!< see CongestionControl::SendsWithinWindow
    bool m_hasPortTimers;                    //!< PaceTimer::Port: who waits for a time is in turn
    uint32_t m_header;                       //!< bytes, of a data packet
    std::vector<CreditClock> m_creditClocks; //!< by link; empty: no credits
    std::size_t m_asking{NOBODY}; //!< into m_turns: a port that waits for NextPacket's answer
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_QUEUE_PAIRS_H
