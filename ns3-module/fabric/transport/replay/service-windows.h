// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_REPLAY_SERVICE_WINDOWS_H
#define WEIR_FABRIC_TRANSPORT_REPLAY_SERVICE_WINDOWS_H

#include "fabric/transport/packet/packet-counters.h"

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace weir
{

/**
 * Finds out whether connections are served alike on average: what each of them has had in windows
 * of time, though what controls its rate swings within them.
 *
 * A window is a number of **units**, of which each is some periods of whatever swings. Three
 * windows back to back **agree** when
 *  - they have not had ever more bytes, nor ever fewer, by a tenth of the tolerance: what still
 *    grows or falls has not settled;
 *  - the standard errors of what connections have had on average, added up, are within the
 * tolerance of all that was had in a window;
 *  - similarly by how much those have grown or fallen that have grown or fallen twice back to back;
 *  - similarly the bytes that stand in queues at the end.
 * The first quarter of the time at least is left out, and windows grow with the time: what does not
 * agree over short ones may agree over long ones.
 */
class ServiceWindows
{
  public:
    /** How a connection served a flow, one after another: a flow waits for the one before it. */
    struct Service
    {
        int64_t end{0};        //!< ps: when it was done
        int64_t time{0};       //!< ps from when it might begin, less the latency of its path
        int64_t bytes{0};      //!< of the flow
        int64_t sentBefore{0}; //!< ps: the last byte left its source so much before the end
        FlowCounters counters;
    };

    struct Connection
    {
        std::vector<Service> services; //!< the oldest one first
        std::size_t next{0};           //!< of these, the one that is taken next for another flow
        double served{0};              //!< bytes of flows that are done
        double open{0};                //!< bytes that came of those that are not, at the last mark
        int64_t free{0};               //!< ps: when the last one ended, less the latency
        int64_t idleSince{0};          //!< ps: when the last one was done
        int64_t longestIdle{0};        //!< ps
        int64_t maxBytes{0};           //!< of a flow
        double rate{0};                //!< bytes/ps while it served, in what was averaged

        /** Whether it is known how it serves a flow; without a rate, one of no bytes. */
        bool IsKnown() const
        {
            return rate > 0 || (!services.empty() && maxBytes == 0);
        }
    };

    explicit ServiceWindows(double tolerance)
        : m_tolerance(tolerance)
    {
    }

    /** The number of a connection: of a route, a stream and a class. */
    uint32_t ConnectionOf(uint32_t route, uint32_t stream, uint8_t trafficClass);

    Connection& At(uint32_t connection)
    {
        return m_connections[connection];
    }

    const Connection& At(uint32_t connection) const
    {
        return m_connections[connection];
    }

    std::size_t Size() const
    {
        return m_connections.size();
    }

    /** Windows begin at @p now, ps; services are forgotten. */
    void Restart(int64_t now);

    /** Units are at least so long, ps. */
    void Widen(int64_t unit)
    {
        m_unit = unit > m_unit ? unit : m_unit;
    }

    int64_t Unit() const
    {
        return m_unit;
    }

    /** When the next mark is due, ps. */
    int64_t NextMark() const
    {
        return m_marks.empty() ? m_begin : m_marks.back().time + m_unit;
    }

    /** Notes what all connections have had, Connection::open of the last one too. O(connections) */
    void Mark(int64_t now, double queued, std::vector<PortCounters> counters);

    /** What windows that agree have had. */
    struct Span
    {
        int64_t begin{0};                   //!< ps: of the first one
        int64_t time{0};                    //!< ps: of all of them
        std::vector<PortCounters> counters; //!< what ports had counted at the begin
    };

    /** Where the last mark ends windows that agree. Services that are older are forgotten then. */
    std::optional<Span> Find();

  private:
    struct Snapshot
    {
        int64_t time{0};
        double queued{0};                   //!< bytes
        std::vector<double> served;         //!< bytes, by connection
        std::vector<PortCounters> counters; //!< of ports
    };

    bool Agree(std::size_t width) const;

    double m_tolerance;
    std::vector<Connection> m_connections;
    std::map<std::tuple<uint32_t, uint32_t, uint8_t>, uint32_t> m_numbers;
    std::vector<Snapshot> m_marks;
    int64_t m_unit{0};  //!< ps
    int64_t m_begin{0}; //!< ps
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_REPLAY_SERVICE_WINDOWS_H
