// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_REPLAY_SERVICE_WINDOWS_H
#define WEIR_FABRIC_TRANSPORT_REPLAY_SERVICE_WINDOWS_H

#include "fabric/transport/packet/packet-counters.h"
#include "fabric/transport/transport.h"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace weir
{

/**
 * Determines whether the service of connections has settled on average: compares the bytes served
 * to each connection in windows of time, even if its congestion control oscillates within them.
 *
 * A window is a number of **units**; each unit is some periods of the oscillation. Three
 * consecutive windows **agree** when
 * - the total bytes do not increase or decrease monotonically by more than a tenth of the
 *   tolerance, since a monotone trend has not settled;
 * - the sum of the standard errors of the connections' mean bytes is within the tolerance of the
 *   total bytes of a window;
 * - the same holds for the sum of the monotone increases and decreases of the connections;
 * - the same holds for the bytes in queues at the end.
 *
 * At least the first quarter of the time is left out, and windows grow with the time: short windows
 * may disagree where longer ones agree.
 */
class ServiceWindows
{
  public:
    /** Service of a flow by a connection. Flows of a connection are served one after another. */
    struct Service
    {
        int64_t end{0};        //!< ps: end of the flow
        int64_t time{0};       //!< ps from its earliest possible start to its end, without the
                               //!< latency of its path
        int64_t bytes{0};      //!< bytes of the flow
        int64_t sentBefore{0}; //!< ps by which the last byte left its source before the end
        FlowCounters counters;
    };

    struct Connection
    {
        std::vector<Service> services; //!< recorded services, the oldest first
        std::size_t next{0};           //!< index of the service to reuse next
        double served{0};              //!< bytes of ended flows
        double open{0};                //!< bytes received of active flows, at the last mark
        int64_t free{0};               //!< ps: end of the last flow, without the latency
        int64_t idleSince{0};          //!< ps: end of the last flow
        int64_t longestIdle{0};        //!< ps
        int64_t maxBytes{0};           //!< largest bytes of a flow
        double rate{0};                //!< mean rate while serving, bytes/ps

        /** Whether its service is known; without a rate, only for flows of zero bytes. */
        bool IsKnown() const
        {
            return rate > 0 || (!services.empty() && maxBytes == 0);
        }
    };

    explicit ServiceWindows(double tolerance)
        : m_tolerance(tolerance)
    {
    }

    /** Number of a connection. */
    uint32_t NumberOf(const ConnectionKey& key);

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

    /** Restarts the windows at @p now (ps) and forgets all services. */
    void Restart(int64_t now);

    /** Raises the length of a unit to at least @p unit ps. */
    void Widen(int64_t unit)
    {
        m_unit = unit > m_unit ? unit : m_unit;
    }

    /** Time of the next mark, ps. */
    int64_t NextMark() const
    {
        return m_marks.empty() ? m_begin : m_marks.back().time + m_unit;
    }

    /**
     * Records the bytes served to all connections, Connection::open included. O(connections)
     * @param queued bytes in queues
     * @param counters counters of ports
     */
    void Mark(int64_t now, double queued, std::vector<PortCounters> counters);

    /** The time of three windows that agree. */
    struct Span
    {
        int64_t begin{0};                   //!< ps: start of the first window
        int64_t time{0};                    //!< ps: total length
        std::vector<PortCounters> counters; //!< counters of ports at the start
    };

    /**
     * Returns the last three windows if they end at the last mark and agree. Older services are
     * forgotten then.
     */
    std::optional<Span> Find();

  private:
    struct Snapshot
    {
        int64_t time{0};
        double queued{0};                   //!< bytes
        std::vector<double> served;         //!< bytes, by connection
        std::vector<PortCounters> counters; //!< counters of ports
    };

    bool Agree(std::size_t width) const;

    double m_tolerance;
    std::vector<Connection> m_connections;
    std::unordered_map<ConnectionKey, uint32_t, ConnectionKey::Hash> m_numbers;
    std::vector<Snapshot> m_marks;
    int64_t m_unit{0};  //!< ps
    int64_t m_begin{0}; //!< ps
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_REPLAY_SERVICE_WINDOWS_H
