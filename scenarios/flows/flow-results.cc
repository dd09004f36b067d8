// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/flows/flow-results.h"

#include "scenarios/results/link-series.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace weir
{

namespace
{

constexpr std::size_t CHUNK = std::size_t{1} << 18; //!< bytes per write
constexpr int64_t PICOSECONDS = 1'000'000'000'000;  //!< in a second

/** The slowdown; 1 where both times are zero. */
double
SlowdownOf(Time taken, Time ideal)
{
    return taken == ideal ? 1 : taken / ideal;
}

/** Collects rows of numbers and writes them in large pieces. */
class RowWriter
{
  public:
    explicit RowWriter(std::ostream& out)
        : m_out(out)
    {
    }

    void Text(const char* text)
    {
        m_rows += text;
    }

    template <typename Number>
    void Add(Number value)
    {
        Digits(value);
        m_rows += ',';
    }

    /** Seconds with up to twelve decimals, without trailing zeros. */
    void Add(Time time)
    {
        const int64_t ps = time.ToPicoseconds();
        m_rows += ps < 0 ? "-" : "";
        Digits(std::abs(ps) / PICOSECONDS);
        if (const int64_t fraction = std::abs(ps) % PICOSECONDS; fraction != 0)
        {
            const std::size_t point = m_rows.size();
            Digits(fraction + PICOSECONDS); // a one, then the twelve decimals
            m_rows[point] = '.';
            m_rows.erase(m_rows.find_last_not_of('0') + 1);
        }
        m_rows += ',';
    }

    /** Ends the row, replacing its last comma. */
    void EndRow()
    {
        m_rows.back() = '\n';
        if (m_rows.size() > CHUNK)
        {
            Flush();
        }
    }

    void Flush()
    {
        m_out << m_rows;
        m_rows.clear();
    }

  private:
    template <typename Number>
    void Digits(Number value)
    {
        char digits[32]; // a shortest double has at most 24
        m_rows.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
    }

    std::ostream& m_out;
    std::string m_rows; //!< not written yet
};

} // namespace

void
FlowResults::Reserve(std::size_t flows)
{
    m_sources.reserve(flows);
    m_destinations.reserve(flows);
    m_routes.reserve(flows);
    m_bytes.reserve(flows);
    m_starts.reserve(flows);
    m_finishes.reserve(flows);
}

void
FlowResults::Add(uint32_t source, uint32_t destination, Bytes bytes, Time start, RouteId route)
{
    m_sources.push_back(source);
    m_destinations.push_back(destination);
    m_routes.push_back(route);
    m_bytes.push_back(bytes);
    m_starts.push_back(start);
    m_finishes.push_back(Time::Infinite());
}

FlowRequest
FlowResults::Request(std::size_t flow) const
{
    FlowRequest request;
    request.route = m_routes[flow];
    request.bytes = m_bytes[flow];
    request.cap = flow < m_caps.size() ? m_caps[flow] : Rate::Infinite();
    request.trafficClass = flow < m_classes.size() ? m_classes[flow] : 1;
    request.form =
        flow < m_isPackets.size() && m_isPackets[flow] ? FlowForm::Packets : FlowForm::Fluid;
    return request;
}

Time
FlowResults::IdealTime(std::size_t flow, Transport& transport) const
{
    return transport.UncontendedTime(Request(flow),
                                     IsOnPlannedPath(flow) ? PathId() : m_paths[flow]);
}

double
FlowResults::Slowdown(std::size_t flow, Transport& transport) const
{
    return SlowdownOf(CompletionTime(flow), IdealTime(flow, transport));
}

bool
FlowResults::IsSortedByStart() const
{
    return std::is_sorted(m_starts.begin(), m_starts.end());
}

double
MinLinkBins(const FlowResults& flows, const Routing& routing, Time width)
{
    double bins = 0;
    for (std::size_t flow = 0; flow < flows.Size(); flow++)
    {
        bins += LinkSeries::MinBins(routing, flows.Route(flow), flows.GetBytes(flow), width);
    }
    return bins;
}

void
WriteFlowCsv(const FlowResults& results, Transport& transport, std::ostream& out)
{
    RowWriter writer(out);
    writer.Text("flow,src,dst,bytes,start_s,finish_s,fct_s,ideal_fct_s,slowdown,");
    writer.EndRow();
    for (std::size_t flow = 0; flow < results.Size(); flow++)
    {
        if (results.Finish(flow).IsInfinite())
        {
            continue; // the run was stopped before it ended
        }
        writer.Add(flow);
        writer.Add(results.Source(flow));
        writer.Add(results.Destination(flow));
        writer.Add(results.GetBytes(flow).Count());
        writer.Add(results.Start(flow));
        writer.Add(results.Finish(flow));
        const Time taken = results.CompletionTime(flow);
        const Time ideal = results.IdealTime(flow, transport);
        writer.Add(taken);
        writer.Add(ideal);
        writer.Add(SlowdownOf(taken, ideal));
        writer.EndRow();
    }
    writer.Flush();
}

void
WriteFlowCsv(const FlowResults& results, Transport& transport, const std::string& file)
{
    errno = 0;
    std::ofstream out(file, std::ios::binary);
    WriteFlowCsv(results, transport, out);
    out.close();
    if (!out)
    {
        throw std::runtime_error("cannot write the flows' CSV" +
                                 (errno == 0 ? "" : std::string(": ") + std::strerror(errno)));
    }
}

} // namespace weir
