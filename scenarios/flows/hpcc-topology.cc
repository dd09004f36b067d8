// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/flows/hpcc-topology.h"

#include "scenarios/readers/located-lines.h"
#include "scenarios/yaml/quantity.h"

#include <cstdint>

namespace weir
{

namespace
{

constexpr int64_t MAX_NODES = int64_t{1} << 24; //!< limits the memory that a wrong header takes
constexpr int64_t MAX_LINKS = int64_t{1} << 30; //!< both directions of each have 32-bit ids
constexpr int64_t MAX_UNLINKED = 65536;         //!< limits the memory that a short file takes
constexpr std::size_t LINK_FIELDS = 5;

struct Header
{
    uint64_t line{0};
    int64_t nodes{0};
    int64_t switches{0};
    int64_t links{0};
};

Header
ReadHeader(LocatedLines& lines)
{
    if (!lines.NextAtSpaces())
    {
        throw lines.Error("found an empty file, expected a topology: nodes switches links");
    }
    const std::size_t count = lines.Fields().size();
    if (count != 3 && count != 4)
    {
        throw lines.Error("found " + std::to_string(count) +
                          " fields, expected 3 or 4 whole numbers: nodes switches [tors] links");
    }
    Header header;
    header.line = lines.Line();
    header.nodes = lines.Whole(0, "nodes", 1, MAX_NODES);
    header.switches = lines.Whole(1, "switches", 0, header.nodes);
    if (count == 4)
    {
        lines.Whole(2, "tors", 0, header.switches);
    }
    header.links = lines.Whole(count - 1, "links", 0, MAX_LINKS);
    if (header.nodes > 2 * header.links + MAX_UNLINKED)
    {
        throw lines.Error("nodes: found " + std::to_string(header.nodes) + " with " +
                          std::to_string(header.links) + " links, expected at most " +
                          std::to_string(MAX_UNLINKED) + " nodes that no link connects");
    }
    return header;
}

InputError
TooFew(const LocatedLines& lines,
       std::size_t found,
       int64_t expected,
       const Header& header,
       const char* things)
{
    return lines.Error("found the end of the file after " + std::to_string(found) + " " + things +
                       ", expected " + std::to_string(expected) + " as line " +
                       std::to_string(header.line) + " says");
}

/** Reads, for each node, whether it is a switch. */
std::vector<bool>
ReadSwitches(LocatedLines& lines, const Header& header)
{
    std::vector<bool> isSwitch(static_cast<std::size_t>(header.nodes), false);
    for (int64_t found = 0; found < header.switches;)
    {
        if (!lines.NextAtSpaces())
        {
            throw TooFew(
                lines, static_cast<std::size_t>(found), header.switches, header, "switch ids");
        }
        for (std::size_t i = 0; i < lines.Fields().size(); i++)
        {
            if (found == header.switches)
            {
                throw lines.Refusal("switch id",
                                    lines.Fields()[i],
                                    "only " + std::to_string(header.switches) +
                                        " switch ids, as line " + std::to_string(header.line) +
                                        " says");
            }
            const int64_t id = lines.Whole(i, "switch id", 0, header.nodes - 1);
            if (isSwitch[static_cast<std::size_t>(id)])
            {
                throw lines.Refusal("switch id", lines.Fields()[i], "each switch once");
            }
            isSwitch[static_cast<std::size_t>(id)] = true;
            found++;
        }
    }
    return isSwitch;
}

// Numbers without a unit are bit/s and seconds, as in ns-3's DataRate and Time. Outside these
// limits a unit was forgotten: no data center link is slower, or longer.
constexpr double MIN_BARE_RATE = 1e6; //!< bit/s
constexpr double MAX_BARE_DELAY = 1;  //!< s

/** Whether @p text is a number without a unit. */
bool
IsBare(std::string_view text)
{
    return !text.empty() && text.find_first_not_of("0123456789.eE+-") == std::string_view::npos;
}

/** Parses the field at @p index with @p parse, and adds the location to its errors. */
template <typename Parse>
auto
Located(const LocatedLines& lines, std::size_t index, const char* name, const Parse& parse)
{
    return LocateErrors(lines.Where() + ": " + name,
                        [&] { return parse(std::string(lines.Fields()[index])); });
}

Rate
ReadRate(const LocatedLines& lines, std::size_t index)
{
    const auto text = lines.Fields()[index];
    const Rate rate = IsBare(text) ? Rate::BitsPerSecond(lines.Decimal(index, "rate"))
                                   : Located(lines, index, "rate", ParseRate);
    if (rate < Rate::BitsPerSecond(1))
    {
        throw lines.Refusal("rate", text, "at least 1bps");
    }
    if (IsBare(text) && rate < Rate::BitsPerSecond(MIN_BARE_RATE))
    {
        throw lines.Refusal("rate", text, "a unit, such as 100Gbps: without one it is bit/s");
    }
    return rate;
}

Time
ReadDelay(const LocatedLines& lines, std::size_t index)
{
    const auto text = lines.Fields()[index];
    const Time delay = IsBare(text) ? Time::Seconds(lines.Decimal(index, "delay"))
                                    : Located(lines, index, "delay", ParseTime);
    if (delay < Time() || delay.IsInfinite())
    {
        throw lines.Refusal("delay", text, "at least zero and less than 106 days");
    }
    if (IsBare(text) && delay > Time::Seconds(MAX_BARE_DELAY))
    {
        throw lines.Refusal("delay", text, "a unit, such as 1us: without one it is seconds");
    }
    return delay;
}

struct Wire
{
    uint32_t source{0};
    uint32_t destination{0};
    Rate rate;
    Time delay;
    double loss{0};      //!< probability of packet loss
    std::string where{}; //!< location of the loss
};

Wire
ReadLink(LocatedLines& lines, const Header& header, bool areLossesRefused)
{
    if (lines.Fields().size() != LINK_FIELDS)
    {
        throw lines.Error("found " + std::to_string(lines.Fields().size()) +
                          " fields, expected 5: src dst rate delay error_rate");
    }
    const int64_t last = header.nodes - 1;
    const int64_t source = lines.Whole(0, "src", 0, last);
    const int64_t destination = lines.Whole(1, "dst", 0, last);
    if (source == destination)
    {
        throw lines.Refusal("dst", lines.Fields()[1], "another node than src");
    }
    const Rate rate = ReadRate(lines, 2);
    const Time delay = ReadDelay(lines, 3);
    const double loss = lines.Decimal(4, "error_rate");
    if (loss != 0 && areLossesRefused)
    {
        throw lines.Refusal(
            "error_rate", lines.Fields()[4], "0: links of a system lose no packets");
    }
    if (loss < 0 || loss >= 1)
    {
        throw lines.Refusal("error_rate", lines.Fields()[4], "0 to below 1");
    }
    return {static_cast<uint32_t>(source),
            static_cast<uint32_t>(destination),
            rate,
            delay,
            loss,
            loss == 0 ? "" : lines.Error("error_rate").what()};
}

/** Reads all wires before any device is created: a header can announce more than its file has. */
std::vector<Wire>
ReadLinks(LocatedLines& lines, const Header& header, bool areLossesRefused)
{
    std::vector<Wire> wires;
    for (int64_t found = 0; found < header.links; found++)
    {
        if (!lines.NextAtSpaces())
        {
            throw TooFew(lines, static_cast<std::size_t>(found), header.links, header, "links");
        }
        wires.push_back(ReadLink(lines, header, areLossesRefused));
    }
    if (lines.NextPastRemarks())
    {
        throw lines.Error("found one more link, expected " + std::to_string(header.links) +
                          " as line " + std::to_string(header.line) + " says");
    }
    return wires;
}

} // namespace

Topology
ReadHpccTopology(const std::string& path, std::vector<EventSpec>* lossy)
{
    LocatedLines lines(path, "--topology");
    const Header header = ReadHeader(lines);
    const auto isSwitch = ReadSwitches(lines, header);
    const auto wires = ReadLinks(lines, header, lossy == nullptr);
    Topology topology;
    for (std::size_t node = 0; node < isSwitch.size(); node++)
    {
        topology.AddDevice(isSwitch[node] ? DeviceKind::LeafSwitch : DeviceKind::Host,
                           (isSwitch[node] ? "switch" : "host") + std::to_string(node));
    }
    for (const Wire& wire : wires)
    {
        const LinkId link = topology.AddDuplexLink(DeviceId(wire.source),
                                                   DeviceId(wire.destination),
                                                   LinkKind::Network,
                                                   wire.rate,
                                                   wire.delay);
        if (wire.loss > 0)
        {
            for (const LinkId each : {link, topology.GetLink(link).opposite})
            {
                lossy->push_back(LossOf(topology, each, wire.loss, wire.where));
            }
        }
    }
    return topology;
}

EventSpec
LossOf(const Topology& topology, LinkId link, double part, const std::string& where)
{
    EventSpec event;
    event.kind = EventKind::LossyLink;
    event.from = topology.GetDevice(topology.GetLink(link).from).name;
    event.to = topology.LinkName(link).substr(event.from.size() + 2); // after "->"
    event.loss = part;
    event.where = where;
    event.fromWhere = where;
    event.toWhere = where;
    return event;
}

} // namespace weir
