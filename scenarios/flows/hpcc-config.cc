// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/flows/hpcc-config.h"

#include "scenarios/flows/hpcc-topology.h"
#include "scenarios/readers/located-lines.h"
#include "scenarios/yaml/mapped.h"
#include "scenarios/yaml/names.h"
#include "scenarios/yaml/quantity.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <utility>

namespace weir
{

namespace
{

constexpr int64_t MAX_LINK_DOWN = 1'000'000'000'000; // us

enum class Mode
{
    Dcqcn = 1,
    Hpcc = 3,
    Timely = 7,
    Dctcp = 8
};

/** Keys about packets, topology and flows. */
const std::vector<std::string> OWN_KEYS = SplitText(
    "ENABLE_QCN USE_DYNAMIC_PFC_THRESHOLD PACKET_PAYLOAD_SIZE TOPOLOGY_FILE FLOW_FILE "
    "CC_MODE ALPHA_RESUME_INTERVAL RATE_DECREASE_INTERVAL CLAMP_TARGET_RATE RP_TIMER "
    "EWMA_GAIN FAST_RECOVERY_TIMES RATE_AI RATE_HAI MIN_RATE DCTCP_RATE_AI "
    "ERROR_RATE_PER_LINK L2_ACK_INTERVAL L2_BACK_TO_ZERO HAS_WIN GLOBAL_T VAR_WIN "
    "FAST_REACT U_TARGET MI_THRESH INT_MULTI MULTI_RATE SAMPLE_FEEDBACK RATE_BOUND "
    "ACK_HIGH_PRIO LINK_DOWN KMAX_MAP KMIN_MAP PMAX_MAP BUFFER_SIZE",
    ' ');

/** Ignored keys: about output and the end of the run, or part of settings that are refused. */
const std::vector<std::string> IGNORED_KEYS = SplitText(
    "TRACE_FILE TRACE_OUTPUT_FILE ENABLE_TRACE FCT_OUTPUT_FILE PFC_OUTPUT_FILE "
    "SEND_OUTPUT_FILE SIMULATOR_STOP_TIME L2_CHUNK_SIZE PINT_LOG_BASE PINT_PROB "
    "QLEN_MON_FILE QLEN_MON_START QLEN_MON_END QLEN_MON_INTERVAL QP_MON_INTERVAL "
    "BW_MON_FILE BW_MON_INTERVAL RATE_MON_FILE CNP_MON_FILE MON_START MON_END",
    ' ');

int64_t
BitRateOf(const Link& link)
{
    return std::llround(link.rate.ToBytesPerSecond() * 8);
}

bool
IsHost(const Topology& topology, DeviceId device)
{
    return topology.GetDevice(device).kind == DeviceKind::Host;
}

/** The rates of all ports of switches, bits/s. */
std::set<int64_t>
SwitchRates(const Topology& topology)
{
    std::set<int64_t> rates;
    for (std::size_t i = 0; i < topology.LinkCount(); i++)
    {
        const Link& link = topology.GetLink(LinkId(i));
        if (!IsHost(topology, link.from))
        {
            rates.insert(BitRateOf(link));
        }
    }
    return rates;
}

/** The largest values over all pairs of hosts, each by a shortest path in hops. */
struct LargestPair
{
    double roundTrip{0}; //!< ns
    double bytes{0};     //!< round-trip time x bottleneck rate
};

/** The simulator's round trips: twice the one-way delays, and sending one payload per link. */
LargestPair
LargestOf(const Topology& topology, double payload)
{
    struct Reached
    {
        double delay{-1}; //!< one-way, ns; -1: not reached
        double sending{0};
        double rate{0}; //!< bits/s
    };

    LargestPair largest;
    for (std::size_t host = 0; host < topology.DeviceCount(); host++)
    {
        if (!IsHost(topology, DeviceId(host)))
        {
            continue;
        }
        std::vector<Reached> reached(topology.DeviceCount());
        std::vector<DeviceId> queue{DeviceId(host)};
        reached[host] = {0, 0, INFINITY};
        for (std::size_t at = 0; at < queue.size(); at++)
        {
            const Reached here = reached[queue[at].Index()];
            if (at > 0 && IsHost(topology, queue[at]))
            {
                const double roundTrip = 2 * here.delay + here.sending;
                largest.roundTrip = std::max(largest.roundTrip, roundTrip);
                largest.bytes = std::max(largest.bytes, roundTrip * here.rate / 8e9);
                continue; // hosts do not forward
            }
            for (const LinkId id : topology.LinksFrom(queue[at]))
            {
                const Link& link = topology.GetLink(id);
                Reached& next = reached[link.to.Index()];
                if (next.delay < 0)
                {
                    const auto rate = static_cast<double>(BitRateOf(link));
                    next = {here.delay + link.latency.ToSeconds() * 1e9,
                            here.sending + payload * 8e9 / rate,
                            std::min(here.rate, rate)};
                    queue.push_back(link.to);
                }
            }
        }
    }
    return largest;
}

} // namespace

bool
HpccConfig::IsOne(const std::string& path)
{
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored))
    {
        return false;
    }
    LocatedLines lines(path, "--network");
    if (!lines.NextAtSpaces())
    {
        return false;
    }
    const std::string_view key = lines.Fields()[0];
    return std::all_of(key.begin(), key.end(), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
}

HpccConfig::HpccConfig(const std::string& path)
    : m_path(path)
{
    LocatedLines lines(path, "--network");
    while (lines.NextAtSpaces())
    {
        const std::string key(lines.Fields()[0]);
        if (!IsAmong(key, OWN_KEYS) && !IsAmong(key, IGNORED_KEYS))
        {
            throw lines.Refusal(
                "key", key, "one of HPCC's simulator, such as CC_MODE" + DidYouMean(key, OWN_KEYS));
        }
        Entry entry{lines.Line(), {lines.Fields().begin() + 1, lines.Fields().end()}};
        if (entry.values.empty())
        {
            throw lines.Error(key + ": found nothing, expected a value");
        }
        const auto [known, isNew] = m_entries.emplace(key, std::move(entry));
        if (!isNew)
        {
            throw lines.Error(key + ": found it twice (first on line " +
                              std::to_string(known->second.line) + "), expected it once");
        }
    }
    if (m_entries.count("CC_MODE") == 0)
    {
        throw lines.Error("found no CC_MODE, expected a configuration of HPCC's simulator");
    }
    ExpectAsModeled();
}

std::string
HpccConfig::FileOf(const std::string& key) const
{
    const auto found = m_entries.find(key);
    if (found == m_entries.end())
    {
        return {};
    }
    const std::filesystem::path name = found->second.values[0];
    const std::filesystem::path folder = std::filesystem::path(m_path).parent_path();
    std::error_code ignored;
    for (const auto& path : {name, folder / name, folder / ".." / name})
    {
        if (std::filesystem::is_regular_file(path, ignored))
        {
            return path.string();
        }
    }
    throw Refusal(key, "a file, by itself or from the configuration's folder or the one above");
}

std::string
HpccConfig::LocationOf(const std::string& key) const
{
    return m_path + ":" + std::to_string(m_entries.at(key).line) + ": " + key;
}

InputError
HpccConfig::Refusal(const std::string& key, const std::string& expected) const
{
    return InputError(LocationOf(key) + ": found '" + JoinNames(m_entries.at(key).values, " ") +
                      "', expected " + expected);
}

double
HpccConfig::Number(const std::string& key, double absent, double min, double max) const
{
    const auto found = m_entries.find(key);
    if (found == m_entries.end())
    {
        return absent;
    }
    const std::string& text = found->second.values[0];
    const auto value = ParseNumber<double>(text);
    if (!value || !(*value >= min && *value <= max) || found->second.values.size() > 1)
    {
        throw Refusal(key, "a number from " + FormatNumber(min) + " to " + FormatNumber(max));
    }
    return *value;
}

int64_t
HpccConfig::Whole(const std::string& key, int64_t absent, int64_t min, int64_t max) const
{
    const double value = Number(
        key, static_cast<double>(absent), static_cast<double>(min), static_cast<double>(max));
    if (value != std::floor(value))
    {
        throw Refusal(key, "a whole number");
    }
    return static_cast<int64_t>(value);
}

bool
HpccConfig::Flag(const std::string& key, bool absent) const
{
    return Whole(key, absent ? 1 : 0, 0, 1) == 1;
}

/** The rate as YAML: accepts the simulator's "50Mb/s" and "50Mbps". */
std::string
HpccConfig::RateOf(const std::string& key, const std::string& absent) const
{
    const auto found = m_entries.find(key);
    if (found == m_entries.end())
    {
        return absent;
    }
    std::string text = found->second.values[0];
    const auto slash = text.find("b/s");
    if (slash != std::string::npos && slash + 3 == text.size())
    {
        text.replace(slash, 3, "bps");
    }
    try
    {
        ParseRate(text);
    }
    catch (const std::exception&)
    {
        throw Refusal(key, "a rate with a unit, such as 50Mb/s");
    }
    return text;
}

/** Refuses settings that the packet transport does not support. */
void
HpccConfig::ExpectAsModeled() const
{
    const int64_t mode = Whole("CC_MODE", 0, 0, 1000);
    if (mode != static_cast<int64_t>(Mode::Dcqcn) && mode != static_cast<int64_t>(Mode::Hpcc) &&
        mode != static_cast<int64_t>(Mode::Timely) && mode != static_cast<int64_t>(Mode::Dctcp))
    {
        throw Refusal("CC_MODE", "1 (DCQCN), 3 (HPCC), 7 (TIMELY) or 8 (DCTCP)");
    }
    const auto expect = [this](const char* key, bool wanted, const char* why) {
        if (Flag(key, wanted) != wanted)
        {
            throw Refusal(key, std::string(wanted ? "1" : "0") + ": " + why);
        }
    };
    expect("USE_DYNAMIC_PFC_THRESHOLD", true, "pause thresholds are dynamic");
    expect("L2_BACK_TO_ZERO", false, "lost packets are retransmitted by go-back-N");
    expect("RATE_BOUND", true, "packets are paced");
    if (mode == static_cast<int64_t>(Mode::Hpcc))
    {
        expect("SAMPLE_FEEDBACK", false, "each acknowledgment has telemetry");
        expect("MULTI_RATE", false, "a queue pair has one rate");
    }
}

/** Reads n rate value rate value ...: values by rate in bits/s. */
std::map<int64_t, double>
HpccConfig::ByRate(const std::string& key) const
{
    std::map<int64_t, double> values;
    const auto found = m_entries.find(key);
    if (found == m_entries.end())
    {
        return values;
    }
    const std::vector<std::string>& texts = found->second.values;
    std::vector<double> numbers;
    for (const std::string& text : texts)
    {
        const auto value = ParseNumber<double>(text);
        if (value && *value >= 0 && *value < 1e18)
        {
            numbers.push_back(*value);
        }
    }
    if (numbers.size() != texts.size() || numbers[0] * 2 + 1 != static_cast<double>(numbers.size()))
    {
        throw Refusal(
            key, "a count, followed by that many pairs of a rate in bits per second and a value");
    }
    for (std::size_t i = 1; i < numbers.size(); i += 2)
    {
        values[std::llround(numbers[i])] = numbers[i + 1];
    }
    return values;
}

/** Sets the marking thresholds: one value of each map for all ports, scaled by port rate. */
void
HpccConfig::SetMarks(YamlNode& node, const Topology& topology) const
{
    const std::set<int64_t> rates = SwitchRates(topology);
    if (!Flag("ENABLE_QCN", true) || rates.empty())
    {
        node.Set("switch.marks", "false");
        return;
    }
    const auto first = static_cast<double>(*rates.begin());
    const auto valueOf = [&](const char* key, double absent, bool inProportion) {
        const std::map<int64_t, double> values = ByRate(key);
        if (values.empty())
        {
            return absent;
        }
        for (const int64_t rate : rates)
        {
            if (values.count(rate) == 0)
            {
                throw Refusal(key,
                              "an entry of " + std::to_string(rate) +
                                  ", which ports of the topology have");
            }
            const double scale = inProportion ? static_cast<double>(rate) / first : 1;
            if (std::abs(values.at(rate) - values.at(*rates.begin()) * scale) >
                1e-6 * values.at(rate))
            {
                throw Refusal(key,
                              inProportion ? "values in proportion to the rates of the topology"
                                           : "one value for all rates of the topology");
            }
        }
        return values.at(*rates.begin());
    };
    // The simulator's defaults are 100 and 400 KB, and probability 0.2, at 25 Gb/s.
    const double from = valueOf("KMIN_MAP", 100 * first / 25e9, true);
    const double all = valueOf("KMAX_MAP", 400 * first / 25e9, true);
    if (from > all)
    {
        const bool isFromGiven = m_entries.count("KMIN_MAP") > 0;
        throw Refusal(isFromGiven ? "KMIN_MAP" : "KMAX_MAP",
                      isFromGiven ? "at most KMAX, " + FormatNumber(all) + " kB at " +
                                        std::to_string(*rates.begin())
                                  : "at least KMIN, " + FormatNumber(from) + " kB at " +
                                        std::to_string(*rates.begin()));
    }
    const double probability = valueOf("PMAX_MAP", 0.2, false);
    if (probability > 1)
    {
        throw Refusal("PMAX_MAP", "probabilities, at most 1");
    }
    node.Set("switch.markFrom", FormatNumber(from) + "kB");
    node.Set("switch.markAll", FormatNumber(all) + "kB");
    node.Set("switch.markProbability", FormatNumber(probability));
    node.Set("switch.markRate", FormatNumber(first) + "bps");
}

void
HpccConfig::SetWindow(YamlNode& node, const Topology& topology) const
{
    const bool hasWindow = Flag("HAS_WIN", false);
    const bool isGlobal = Flag("GLOBAL_T", true);
    const bool varies = Flag("VAR_WIN", false);
    const auto mode = static_cast<Mode>(Whole("CC_MODE", 0, 0, 1000));
    if (mode == Mode::Dcqcn && hasWindow && !varies)
    {
        throw Refusal(m_entries.count("VAR_WIN") > 0 ? "VAR_WIN" : "HAS_WIN",
                      "VAR_WIN 1 with HAS_WIN 1 and CC_MODE 1: DCQCN's window follows its rate");
    }
    const LargestPair largest =
        isGlobal ? LargestOf(topology, Number("PACKET_PAYLOAD_SIZE", 1000, 1, 1e6)) : LargestPair();
    node.Set("congestionControl.windowOfPath", hasWindow && !isGlobal ? "true" : "false");
    if (hasWindow && isGlobal)
    {
        node.Set("congestionControl.window", FormatNumber(std::floor(largest.bytes)) + "B");
    }
    if (mode != Mode::Dcqcn)
    {
        node.Set("congestionControl.scaleWindow", varies ? "true" : "false");
    }
    if (mode == Mode::Hpcc && isGlobal)
    {
        node.Set("congestionControl.baseRtt", FormatNumber(std::floor(largest.roundTrip)) + "ns");
    }
}

void
HpccConfig::SetControl(YamlNode& node) const
{
    const auto set = [&node](const char* key, const std::string& value) {
        node.Set(std::string("congestionControl.") + key, value);
    };
    const auto microseconds = [this](const char* key, double absent) {
        return FormatNumber(Number(key, absent, 0, 1e9)) + "us";
    };
    set("minimumRate", RateOf("MIN_RATE", "100Mbps"));
    switch (static_cast<Mode>(Whole("CC_MODE", 0, 0, 1000)))
    {
    case Mode::Dcqcn:
        set("kind", "dcqcn");
        set("preset", "hpcc");
        set("notificationInterval", "inf"); // acknowledgments echo marks
        set("alphaTimer", microseconds("ALPHA_RESUME_INTERVAL", 55));
        set("cutCheck", microseconds("RATE_DECREASE_INTERVAL", 4));
        set("increaseTimer", microseconds("RP_TIMER", 1500));
        set("fastRecovery", std::to_string(Whole("FAST_RECOVERY_TIMES", 5, 1, 1000000)));
        set("additiveIncrease", RateOf("RATE_AI", "5Mbps"));
        set("hyperIncrease", RateOf("RATE_HAI", "50Mbps"));
        set("increaseRate", "0bps");
        set("alphaGain", FormatNumber(Number("EWMA_GAIN", 1.0 / 16, 1e-9, 1)));
        set("clampTarget", Flag("CLAMP_TARGET_RATE", false) ? "true" : "false");
        break;
    case Mode::Hpcc:
        set("kind", "hpcc");
        set("utilization", FormatNumber(Number("U_TARGET", 0.95, 1e-3, 1)));
        set("maxStage", std::to_string(Whole("MI_THRESH", 5, 0, 1000000)));
        set("fastReaction", Flag("FAST_REACT", true) ? "true" : "false");
        set("increase", RateOf("RATE_AI", "5Mbps"));
        set("byteUnit", std::to_string(128 * Whole("INT_MULTI", 1, 1, 1 << 16)));
        set("queueUnit", std::to_string(80 * Whole("INT_MULTI", 1, 1, 1 << 16)));
        break;
    case Mode::Timely:
        set("kind", "timely");
        set("increase", RateOf("RATE_AI", "5Mbps"));
        set("hyperIncrease", RateOf("RATE_HAI", "50Mbps"));
        set("increaseRate", "0bps");
        break;
    case Mode::Dctcp:
        set("kind", "dctcp");
        set("gain", FormatNumber(Number("EWMA_GAIN", 1.0 / 16, 1e-9, 1)));
        set("increase", RateOf("DCTCP_RATE_AI", "1000Mbps"));
        break;
    }
}

std::vector<EventSpec>
HpccConfig::Events(const Topology& topology, const std::vector<EventSpec>& lossy) const
{
    std::vector<EventSpec> events;
    const double loss = Number("ERROR_RATE_PER_LINK", 0, 0, 1);
    if (loss == 1)
    {
        throw Refusal("ERROR_RATE_PER_LINK", "0 to below 1");
    }
    std::set<std::pair<std::string, std::string>> haveOwn;
    for (const EventSpec& own : lossy)
    {
        haveOwn.emplace(own.from, own.to);
    }
    for (std::size_t i = 0; i < topology.LinkCount() && loss > 0; i++)
    {
        EventSpec event = LossOf(topology, LinkId(i), loss, LocationOf("ERROR_RATE_PER_LINK"));
        if (haveOwn.count({event.from, event.to}) == 0)
        {
            events.push_back(std::move(event));
        }
    }
    const auto found = m_entries.find("LINK_DOWN");
    if (found == m_entries.end() || found->second.values.front() == "0") // as in the simulator
    {
        return events;
    }
    const auto values = Mapped<int64_t>(found->second.values, [&](const std::string& text) {
        return ParseNumber<int64_t>(text).value_or(-1);
    });
    const auto nodes = static_cast<int64_t>(topology.DeviceCount());
    const std::string expected = "a time in microseconds and two nodes that a link connects";
    if (values.size() != 3 || values[0] < 0 || values[0] > MAX_LINK_DOWN || values[1] < 0 ||
        values[2] < 0 || values[1] >= nodes || values[2] >= nodes)
    {
        throw Refusal("LINK_DOWN", expected);
    }
    // Of parallel links between two nodes the simulator keeps the last one that it reads.
    const auto& links = topology.LinksFrom(DeviceId(static_cast<std::size_t>(values[1])));
    const auto link = std::find_if(links.rbegin(), links.rend(), [&](LinkId each) {
        return topology.GetLink(each).to == DeviceId(static_cast<std::size_t>(values[2]));
    });
    if (link == links.rend())
    {
        throw Refusal("LINK_DOWN", expected);
    }
    EventSpec down = LossOf(topology, *link, 0, LocationOf("LINK_DOWN"));
    down.kind = EventKind::LinkDown;
    down.at = Time::Seconds(2) + Time::Microseconds(static_cast<double>(values[0]));
    events.push_back(std::move(down));
    return events;
}

YamlNode
HpccConfig::Network(const Topology& topology) const
{
    YamlNode node = YamlNode::Parse("{}", m_path);
    const int64_t payload = Whole("PACKET_PAYLOAD_SIZE", 1000, 1, 1 << 20);
    node.Set("clock", "1ns"); // the simulator's time is whole nanoseconds
    node.Set("packet.mtu", std::to_string(payload) + "B");
    node.Set("packet.header", "48");
    const bool isHpcc = Whole("CC_MODE", 0, 0, 1000) == static_cast<int64_t>(Mode::Hpcc);
    node.Set("packet.controlSize", isHpcc ? "88B" : "60B"); // acknowledgments echo telemetry
    const int64_t acknowledged = Whole("L2_ACK_INTERVAL", 1, 1, int64_t{1} << 40); // bytes
    node.Set("queuePair.ackEvery", std::to_string((acknowledged + payload - 1) / payload));
    node.Set("queuePair.ackPriority", Flag("ACK_HIGH_PRIO", false) ? "true" : "false");
    node.Set("queuePair.repace", isHpcc ? "true" : "false");
    node.Set("queuePair.paceTimer", "port");
    node.Set("queuePair.flowEnd", "acknowledged");
    node.Set("switch.flowControl", "pfc");
    node.Set("switch.buffer", std::to_string(Whole("BUFFER_SIZE", 16, 1, 1 << 20)) + "MiB");
    node.Set("switch.alpha", "0.125"); // at the hosts' rate, and proportional to the rate
    for (std::size_t i = 0; i < topology.LinkCount(); i++)
    {
        if (IsHost(topology, topology.GetLink(LinkId(i)).from))
        {
            node.Set("switch.alphaRate",
                     std::to_string(BitRateOf(topology.GetLink(LinkId(i)))) + "bps");
            break;
        }
    }
    SetMarks(node, topology);
    SetControl(node);
    SetWindow(node, topology);
    return node;
}

} // namespace weir
