// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/machine/nccl-tests-file.h"
#include "scenarios/results/text-table.h"
#include "scenarios/traces/trace-formats.h"
#include "scenarios/traces/trace-lines.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace weir
{

namespace
{

constexpr std::string_view NCCL_INFO = "NCCL INFO ";

/** The word after @p before in @p text; empty if there is none. */
std::string
WordAfter(std::string_view text, std::string_view before)
{
    const std::size_t at = text.find(before);
    if (at == std::string_view::npos)
    {
        return "";
    }
    const std::string_view rest = text.substr(at + before.size());
    const std::size_t begin = std::min(rest.find_first_not_of(' '), rest.size());
    const std::size_t end = std::min(rest.find_first_of(" \t,;", begin), rest.size());
    return std::string(rest.substr(begin, end - begin));
}

/** Counts events in the lines of an NCCL log. */
class NcclLog
{
  public:
    void Take(std::string_view text)
    {
        if (text.find("Init COMPLETE") != std::string_view::npos)
        {
            m_communicators[WordAfter(text, "nranks ")]++;
        }
        else if (text.compare(0, 8, "Channel ") == 0)
        {
            TakeChannel(text);
        }
        else if (text.compare(0, 5, "Ring ") == 0)
        {
            m_rings.insert(WordAfter(text, "Ring "));
        }
        else if (text.compare(0, 6, "Trees ") == 0)
        {
            m_trees++;
        }
        else if (text.find(" coll channels, ") != std::string_view::npos)
        {
            m_channels[std::string(text)]++;
        }
        else if (const std::string network = WordAfter(text, "Using network "); !network.empty())
        {
            m_networks[network]++;
        }
    }

    std::vector<std::string> Describe() const
    {
        std::vector<std::string> lines;
        const auto add = [&](const auto& counts, const std::string& what) {
            for (const auto& [name, count] : counts)
            {
                lines.push_back(std::to_string(count) + " " + what + name);
            }
        };
        add(m_communicators, "ranks initialized in communicators of ");
        add(m_networks, "ranks use network ");
        add(m_channels, "ranks have ");
        add(m_connections, "connections via ");
        if (!m_rings.empty())
        {
            lines.push_back(std::to_string(m_rings.size()) + " rings");
        }
        if (m_trees > 0)
        {
            lines.push_back(std::to_string(m_trees) + " lines of trees");
        }
        return lines;
    }

  private:
    /** Counts a line "Channel 00/0 : 8[0] -> 9[1] via P2P/IPC", or a ring as a list of ranks. */
    void TakeChannel(std::string_view text)
    {
        const std::string via = WordAfter(text, " via ");
        if (via.empty())
        {
            m_rings.insert(WordAfter(text, "Channel "));
            return;
        }
        // NET/IB/0/GDRDMA: ignore the NIC's number
        std::string transport;
        for (const char c : via)
        {
            transport += c >= '0' && c <= '9' ? '*' : c;
        }
        m_connections[transport]++;
    }

    std::map<std::string, std::size_t> m_communicators; //!< number of ranks by communicator size
    std::map<std::string, std::size_t> m_networks;
    std::map<std::string, std::size_t> m_channels;
    std::map<std::string, std::size_t> m_connections; //!< by transport
    std::set<std::string> m_rings;
    std::size_t m_trees{0};
};

} // namespace

bool
IsNcclTests(const std::string& bytes)
{
    const bool isTable = bytes.find("algbw") != std::string::npos &&
                         bytes.find("busbw") != std::string::npos &&
                         bytes.find("redop") != std::string::npos;
    constexpr std::size_t HEADER = 200; // bytes within which the header line of a CSV begins
    return isTable || bytes.substr(0, HEADER).find("size_bytes") != std::string::npos;
}

TraceFile
ListNcclTests(const TraceBytes& file)
{
    TraceFile listed;
    listed.path = file.name;
    listed.dialect = "nccl-tests output";
    for (const NcclTestsRun& run : ParseNcclTests(file.bytes, file.name))
    {
        listed.nodes += run.sizes.size();
        listed.listing.push_back(
            (run.op ? ToString(*run.op) : std::string("an operation without a name")) +
            (run.nodes ? ", " + std::to_string(*run.nodes) + " nodes" : "") +
            (run.gpusPerNode ? " of " + std::to_string(*run.gpusPerNode) + " GPUs" : "") +
            (run.ncclVersion ? ", NCCL " + *run.ncclVersion : "") + ": " +
            std::to_string(run.sizes.size()) + " sizes, " +
            std::to_string(run.sizes.front().Count()) + " B in " +
            FormatText("%.2f us to ", run.seconds.front() * 1e6) +
            std::to_string(run.sizes.back().Count()) + " B in " +
            FormatText("%.2f us", run.seconds.back() * 1e6));
    }
    listed.remarks.emplace_back("weir calibrate --from fits a machine to it");
    return listed;
}

bool
IsNcclLog(const std::string& bytes)
{
    return bytes.find(NCCL_INFO) != std::string::npos;
}

TraceFile
ListNcclLog(const TraceBytes& file)
{
    TraceFile listed;
    listed.path = file.name;
    NcclLog log;
    std::string version;
    TraceLines lines(file.bytes, file.name);
    while (lines.Next())
    {
        const std::string_view line = lines.Line();
        if (version.empty())
        {
            version = WordAfter(line, "NCCL version ");
        }
        const std::size_t at = line.find(NCCL_INFO);
        if (at == std::string_view::npos)
        {
            continue;
        }
        log.Take(line.substr(at + NCCL_INFO.size()));
        listed.nodes++;
    }
    listed.dialect = "NCCL log" + (version.empty() ? "" : " of version " + version);
    listed.listing = log.Describe();
    return listed;
}

} // namespace weir
