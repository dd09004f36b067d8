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

/** Receives the progress of messages. */
class MessageClient
{
  public:
    virtual ~MessageClient() = default;

    /** The transmission of a message's last packet has started for the first time. */
    virtual void OnMessageSent(uint32_t message, int64_t now) = 0;

    /** A message has ended in the sense of QueuePairSpec::flowEnd. */
    virtual void OnMessageDone(uint32_t message, int64_t now) = 0;

    /** Counters of a message that its receiver does not have completely yet. */
    virtual FlowCounters& CountersOf(uint32_t message) = 0;
};

/** Totals of all queue pairs since the start of the run. */
struct QueuePairCounters
{
    uint64_t dataPackets{0}; //!< data packets sent, retransmissions included
    uint64_t retransmissions{0};
    uint64_t acknowledgments{0};
    uint64_t lost{0};
    uint64_t timeouts{0};
};

/**
 * Both ends of reliable connections. Senders split messages into packets and pace them as their
 * congestion control says; receivers acknowledge packets and request lost ones again.
 *
 * Messages of a queue pair are sent in the order of Post. A port serves its queue pairs round
 * robin, by number, among those whose window has room and whose next send time has come. The
 * interval between two packets is the size of the first divided by the rate; the next send time
 * moves when the rate changes.
 */
class QueuePairs : public PacketEndpoints
{
  public:
    /** All arguments must outlive it. */
    QueuePairs(const PacketSpec& spec,
               EventWheel& events,
               PacketPool& packets,
               MessageClient& client);

    /** Sets the network. Must be called before all other functions. */
    void SetNetwork(PacketNetwork& network);

    /** A path and its reverse path, as indices of PacketNetwork::AddHops. */
    struct Path
    {
        uint32_t forward;
        uint32_t back; //!< END: acknowledgments return at once, without using links
    };

    /**
     * Adds a queue pair of a traffic class whose packets use @p paths as QueuePairSpec::pathChoice
     * says.
     * @return its number
     */
    uint32_t Open(std::vector<Path> paths, const ConnectionFacts& facts, uint8_t trafficClass);

    /**
     * Adds a queue pair for a single link. Its packets need no acknowledgments; they count as
     * received at the end of the link.
     * @param hop index that PacketNetwork::AddHops gave the link
     * @return its number
     */
    uint32_t OpenLink(uint32_t hop, const ConnectionFacts& facts, uint8_t trafficClass);

    /** Sets the paths of a queue pair; without paths it stalls. */
    void SetPaths(uint32_t pair, std::vector<Path> paths, int64_t now);

    /**
     * Limits the rate at which the sender's bytes become available, bytes/s of payload. A packet is
     * sent once all of it is available. Infinite: all bytes are available when posted.
     */
    void SetCap(uint32_t pair, double bytesPerSecond)
    {
        m_pairs[pair]->cap = bytesPerSecond;
    }

    /** Queues a message of @p bytes behind those posted before. */
    void Post(uint32_t pair, uint32_t message, int64_t bytes, int64_t now);

    /** Truncates a message to the packets that have been sent. */
    void Withdraw(uint32_t pair, uint32_t message, int64_t now);

    /** Payload bytes of a message not yet received. */
    int64_t BytesLeft(uint32_t pair, uint32_t message) const;

    /**
     * Whether a message has been sent at least in part, but not received completely, and no message
     * behind it has been sent in part.
     */
    bool IsMoving(uint32_t pair, uint32_t message) const;

    /** Whether a message has packets that have never been sent. */
    bool HasUnsent(uint32_t pair, uint32_t message) const;

    /**
     * Changes the length of a message that HasUnsent so that @p left payload bytes are not yet
     * received; bytes already sent remain part of it.
     */
    void SetBytesLeft(uint32_t pair, uint32_t message, int64_t left, int64_t now);

    uint32_t NextPacket(uint32_t link, unsigned trafficClass, int64_t now) override;
    void OnPacket(uint32_t packet, int64_t now) override;
    void OnLost(uint32_t packet, int64_t now) override;
    void Prefetch(const Packet& packet) const override;
    void PrefetchNext(uint32_t link, unsigned trafficClass) const override;

    std::size_t Waiting(uint32_t link, unsigned trafficClass) const override
    {
        return m_portQueues[PortQueueIndex(link, trafficClass)].waiting.size();
    }

    void OnPace(uint32_t pair, int64_t now);
    void OnTimer(uint32_t pair, int64_t now);

    /** The receiver at a link grants credit to one of the waiting senders. */
    void OnCreditClock(uint32_t link, int64_t now);

    const QueuePairCounters& Counters() const
    {
        return m_counters;
    }

    std::size_t Size() const
    {
        return m_pairs.size();
    }

    /** Whether a queue pair has no packets in flight and nothing to send. */
    bool IsIdle(uint32_t pair) const
    {
        return m_pairs[pair]->inFlight == 0 && m_pairs[pair]->state == State::Idle;
    }

    bool HasSent(uint32_t pair) const
    {
        return m_pairs[pair]->highest > 0;
    }

    /** Time of the last packet sent by a queue pair, ps. */
    int64_t LastSent(uint32_t pair) const
    {
        return m_pairs[pair]->lastSent;
    }

    /**
     * Appends the rate (bytes/s) and window (bytes) of each queue pair.
     * @return false if a congestion control has a pending timer or has not settled
     */
    bool AppendLevels(std::vector<double>& levels) const;

    /** A queue pair that retransmits the same packets without progress. */
    struct Livelock
    {
        uint32_t pair{0};
        uint64_t packet{0}; //!< number of the first packet that is never received
    };

    /**
     * A queue pair that has retransmitted its first missing packet MAX_RETRIES times without any
     * queue pair having new data acknowledged since. If nothing was lost or trimmed in that time,
     * it must also exceed the time in which the slowest link of its paths transmits all packets
     * in flight. A livelock happens when packets of several senders meet in a lossy queue in the
     * same order each time.
     */
    const std::optional<Livelock>& FindLivelock() const
    {
        return m_livelock;
    }

    /** Resets the livelock detection, since a change elsewhere may let retransmissions succeed. */
    void ForgetRetries()
    {
        m_retries = 0;
        m_livelock.reset();
    }

    /**
     * Retransmissions that count as a livelock. InfiniBand gives up after 7; reaching this number
     * by chance would need a link that loses everything.
     */
    static constexpr uint32_t MAX_RETRIES = 1000;

    /** Current rate limit of a queue pair, bytes/s on the wire. */
    double RateOf(uint32_t pair) const;

    const ConnectionFacts& FactsOf(uint32_t pair) const
    {
        return m_pairs[pair]->facts;
    }

    /** Payload bytes sent by a queue pair, retransmissions included. */
    int64_t SentBytes(uint32_t pair) const
    {
        return m_pairs[pair]->sentBytes;
    }

  private:
    enum class State : uint8_t
    {
        Idle,     //!< nothing to send
        Queued,   //!< queued at the port
        Pacing,   //!< waits for its next send time
        Windowed, //!< waits for window or credit
        Stalled   //!< has no usable path
    };

    struct Pair
    {
        // State of the sender.
        std::unique_ptr<SenderControl> control;
        MessageQueue messages;
        std::vector<Path> paths;
        uint64_t next{0};      //!< number of the next packet to send
        uint64_t acked{0};     //!< all packets before it are acknowledged
        uint64_t highest{0};   //!< all packets before it have been sent at least once
        int64_t inFlight{0};   //!< payload bytes
        int64_t nextSend{0};   //!< ps: next send time by the pace
        int64_t producedAt{0}; //!< ps: when the bytes sent so far were available, see SetCap
        int64_t lastSent{0};   //!< ps
        int64_t progress{0};   //!< ps: time of the last new acknowledgment
        uint32_t retries{0};   //!< retransmissions of packet `acked` since then
        double cap;            //!< bytes/s
        double pacedRate{0};   //!< rate that nextSend was computed with, bytes/s on the wire
        int64_t sentBytes{0};  //!< payload bytes
        uint32_t lastSize{0};  //!< bytes on the wire of the last packet
        SprayPathSelector pathSelector;
        uint32_t link{0}; //!< first link of the path
        State state{State::Idle};
        uint8_t trafficClass{1};
        bool isLink{false};          //!< opened by OpenLink
        ReceivedSet sacked;          //!< Selective: packets acknowledged beyond `acked`
        std::vector<uint64_t> again; //!< Selective: packets to retransmit, in descending order
        uint64_t searched{0};        //!< Selective: gaps before it have been declared lost
        ReceivedSet reported;        //!< Selective: packets from `searched` on that a NACK has
                                     //!< declared lost
        ConnectionFacts facts;
        // State of the receiver.
        uint64_t expected{0};
        ReceivedSet received;          //!< Selective: packets received beyond `expected`
        uint64_t nacked{~uint64_t{0}}; //!< last packet number requested by a NACK
        int64_t nackedAt{0};           //!< ps
        int64_t notifiedAt{-1};        //!< ps: last CNP; -1: never
        uint32_t unacknowledged{0};    //!< packets received since the last ACK
        int64_t ackBy{0};              //!< ps: deadline for acknowledging them
        int64_t stamp{0};              //!< ps: time stamp of the last packet minus its arrival time
        bool isMarked{false};          //!< a packet was marked since the last ACK
        bool hasAsked{false};          //!< a packet out of order has requested an ACK
        uint64_t came{0};              //!< highest packet number received since the last ACK
        uint64_t minArrived{0};        //!< lowest packet number received since the last ACK
        uint64_t newest{0};            //!< highest packet number received
        uint32_t camePath{0};          //!< path index of the last packet received
        bool asksCredit{false};        //!< is queued for credit at its receiver
        bool isSated{false};           //!< the last packet received was flagged SATED
        bool speculates{false};        //!< the sender sends before it has credit
        bool hasRequested{false};      //!< the sender has requested credit
        // State of credit, payload bytes.
        double credit{std::numeric_limits<double>::infinity()}; //!< allowance of the sender
        double expectedBytes{0};                                //!< granted or speculative, to
                                                                //!< arrive
        int64_t posted{0};                                      //!< posted to the sender in total
        int64_t receivedBytes{0};                               //!< received, each packet once
    };

    /**
     * The queue pairs waiting for a receiver's credit, by the link through which their packets
     * arrive.
     */
    struct CreditClock
    {
        std::deque<uint32_t> asking;              //!< queue pairs, in the order of service
        int64_t next{0};                          //!< ps: time of the next grant
        std::unique_ptr<ReceiverControl> control; //!< null until the first packet arrives
    };

    /** Queue pairs waiting for a port in one traffic class. */
    struct PortQueue
    {
        std::vector<uint32_t> waiting;    //!< ascending
        uint32_t last{0};                 //!< queue pair served last
        int64_t sent{0};                  //!< payload bytes that it sent in its current quantum
        uint32_t bursts{0};               //!< waiting queue pairs inside a node
        uint32_t timed{0};                //!< PaceTimer::Port: queue pair whose Pace event serves
                                          //!< as the timer
        int64_t timer{EventWheel::NEVER}; //!< PaceTimer::Port: time of the timer, ps
    };

    uint32_t Add(std::vector<Path> paths, const ConnectionFacts& facts, uint8_t trafficClass);
    void Count(Pair& pair, uint64_t number, uint32_t FlowCounters::*counter);
    double WindowOf(const Pair& pair) const;
    bool MaySend(Pair& pair) const;
    static uint32_t NextPayload(Pair& pair);
    static bool AwaitsAcknowledgment(const Pair& pair);
    void Speculate(Pair& pair);
    void StopSpeculating(Pair& pair);
    void RequestCredit(uint32_t pair, int64_t now);
    double MissingCredit(const Pair& pair) const;
    void AskCredit(uint32_t pair, uint32_t bytes, int64_t now);
    void NoteArrival(Pair& pair, const Packet& packet, int64_t now);
    void FillAckNotes(const Pair& pair, uint32_t cause, uint32_t reply);
    uint64_t HighestReported(const Pair& pair) const;
    uint32_t NewControlPacket(PacketKind kind, uint32_t pair);
    void SendBack(uint32_t packet, int64_t now);

    bool HasPackets(const Pair& pair) const
    {
        return !pair.again.empty() || pair.next < pair.messages.End();
    }

    static constexpr std::size_t NOBODY = ~std::size_t{0};

    std::size_t PortQueueIndex(uint32_t link, unsigned trafficClass) const
    {
        return std::size_t{link} * m_network->Classes() + trafficClass;
    }

    void Resume(uint32_t pair, int64_t now);
    void JoinPortQueue(uint32_t pair, int64_t now);
    void WakePort(uint32_t link, unsigned trafficClass, int64_t now);
    uint32_t NextRoundRobin(const PortQueue& queue, uint32_t last) const;
    uint32_t NextReady(const PortQueue& queue, int64_t now) const;
    void Leave(PortQueue& queue, uint32_t pair);
    void SetPortTimer(PortQueue& queue, uint32_t pair, int64_t time);
    void SetPortTimer(PortQueue& queue, int64_t now);
    void Repace(uint32_t pair, int64_t now);
    int64_t GapOf(const Pair& pair) const;
    int64_t SendTime(Pair& pair) const;
    void Account(uint32_t pair, int64_t now);
    void ScheduleTimer(uint32_t pair, int64_t now);
    void OnData(uint32_t packet, int64_t now);
    void OnTrimmed(uint32_t packet, int64_t now);
    void SendNack(uint32_t packet, int64_t now);
    void OnAck(uint32_t packet, int64_t now);
    uint32_t Acknowledge(Pair& pair, uint64_t next);
    uint32_t AcknowledgeOne(Pair& pair, uint64_t number);
    uint32_t AcknowledgeBitmap(Pair& pair, uint64_t came, uint64_t bits);
    void PopAcknowledged(Pair& pair, int64_t now);
    int64_t GoBack(Pair& pair, uint64_t next);
    int64_t SendAgain(Pair& pair, uint64_t number);
    int64_t FindLost(Pair& pair, uint64_t newest);
    static void MoveSearch(Pair& pair, uint64_t number);
    void NoteRetry(uint32_t pair, int64_t now);
    int64_t LongestTransmission(const Pair& pair) const;
    void StartAckTimer(uint32_t pair, int64_t now);
    static bool ExceedsAckBitmap(const Pair& pair, uint64_t number);
    void SendDelayedAck(uint32_t pair, int64_t now);
    void Reply(uint32_t data, PacketKind kind, uint64_t number, int64_t now);
    void Deliver(Pair& pair, int64_t now);

    const PacketSpec& m_spec;
    EventWheel& m_events;
    PacketPool& m_packets;
    MessageClient& m_client;
    PacketNetwork* m_network{nullptr};
    std::vector<std::unique_ptr<Pair>> m_pairs; //!< clients add pairs inside callbacks
    std::vector<PortQueue> m_portQueues;        //!< by link and class
    QueuePairCounters m_counters;
    uint64_t m_retries{0};     //!< retransmissions since any new acknowledgment
    int64_t m_retriesSince{0}; //!< ps: time of the first of them
    int64_t m_lastLoss{-1};    //!< ps: when the last packet was lost, or arrived trimmed
    std::optional<Livelock> m_livelock;
    Time m_notificationInterval;
    bool m_wantsTelemetry;
    uint32_t m_creditPackets;
    bool m_ackBitmap;                        //!< see QueuePairSpec; not for OpenLink
    bool m_notesPaths;                       //!< acknowledgments report packet paths
    bool m_sendsWithin;                      //!< see CongestionControl::SendsWithinWindow
    bool m_hasPortTimers;                    //!< PaceTimer::Port: pairs waiting for their send time
                                             //!< stay queued at the port
    uint32_t m_header;                       //!< header bytes of a data packet
    std::vector<CreditClock> m_creditClocks; //!< by link; empty without receiver credits
    std::size_t m_asking{NOBODY};            //!< index into m_portQueues of the port in NextPacket
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_QUEUE_PAIRS_H
