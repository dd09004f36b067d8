// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl/nccl-settings.h"

#include "fabric/enum-names.h"

#include <cctype>
#include <charconv>
#include <initializer_list>
#include <stdexcept>
#include <utility>

namespace weir
{

namespace
{

/**
 * Removes - and _: NCCL writes reducescatter and nvls_tree where Weir writes reduce-scatter and
 * nvls-tree.
 */
std::string
WithoutSeparators(std::string text)
{
    text.erase(
        std::remove_if(text.begin(), text.end(), [](char c) { return c == '-' || c == '_'; }),
        text.end());
    return text;
}

} // namespace

std::string
NormalizedNcclName(const std::string& name)
{
    std::string text = WithoutSeparators(name);
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
        return static_cast<char>(std::tolower(c));
    });
    return text;
}

namespace
{

constexpr uint32_t ALL = ~uint32_t{0};
constexpr CollectiveOp NAMED_OPS[] = {CollectiveOp::AllReduce,
                                      CollectiveOp::AllGather,
                                      CollectiveOp::ReduceScatter,
                                      CollectiveOp::Broadcast,
                                      CollectiveOp::Reduce};

/** Normalized names with their numbers. */
using Names = std::vector<std::pair<std::string, std::size_t>>;

template <typename Enum>
std::pair<std::string, std::size_t>
Named(Enum value)
{
    return {NormalizedNcclName(ToString(value)), static_cast<std::size_t>(value)};
}

std::vector<std::string>
SplitAt(const std::string& text, char divider)
{
    std::vector<std::string> parts{""};
    for (const char c : text)
    {
        if (c == divider)
        {
            parts.emplace_back();
        }
        else
        {
            parts.back() += c;
        }
    }
    return parts;
}

std::size_t
Find(const std::string& name, const Names& names, const char* what)
{
    std::string expected;
    for (const auto& [known, number] : names)
    {
        if (known == NormalizedNcclName(name))
        {
            return number;
        }
        expected += (expected.empty() ? "" : ", ") + known;
    }
    throw std::invalid_argument("found '" + name + "', expected " + what + ": " + expected);
}

/** A bit for each name of a list, or for all others if the list begins with ^. */
uint32_t
MaskOf(const std::string& list, const Names& names)
{
    const bool isInverted = !list.empty() && list.front() == '^';
    uint32_t mask = 0;
    for (const std::string& name : SplitAt(list.substr(isInverted ? 1 : 0), ','))
    {
        mask |= uint32_t{1} << Find(name, names, "one of");
    }
    return isInverted ? ~mask : mask;
}

template <typename Masks>
Masks
MasksOf(const std::string& text, const Names& names)
{
    Names ops;
    for (const CollectiveOp op : NAMED_OPS)
    {
        ops.push_back(Named(op));
    }
    Masks masks;
    masks.fill(ALL);
    bool isFirst = true;
    for (const std::string& part : SplitAt(text, ';'))
    {
        const std::size_t colon = part.find(':');
        if (colon != std::string::npos)
        {
            masks.at(Find(part.substr(0, colon), ops, "an operation")) =
                MaskOf(part.substr(colon + 1), names);
        }
        else if (isFirst)
        {
            const uint32_t mask = MaskOf(part, names);
            for (const auto& op : ops)
            {
                masks.at(op.second) = mask;
            }
        }
        else
        {
            throw std::invalid_argument("found '" + part +
                                        "', expected an operation and a colon before it");
        }
        isFirst = false;
    }
    return masks;
}

} // namespace

NcclFilter::NcclFilter()
{
    m_algorithms.fill(ALL);
    m_protocols.fill(ALL);
}

void
NcclFilter::SetAlgorithms(const std::string& text)
{
    Names names;
    for (const Algorithm algorithm : {Algorithm::Ring,
                                      Algorithm::Tree,
                                      Algorithm::CollNetDirect,
                                      Algorithm::CollNetChain,
                                      Algorithm::Nvls,
                                      Algorithm::NvlsTree,
                                      Algorithm::Pat})
    {
        names.push_back(Named(algorithm));
    }
    m_algorithms = MasksOf<Masks>(text, names);
    m_algorithmsText = text;
}

void
NcclFilter::SetProtocols(const std::string& text)
{
    m_protocols = MasksOf<Masks>(
        text, {Named(Protocol::Ll), Named(Protocol::Ll128), Named(Protocol::Simple)});
    m_protocolsText = text;
}

bool
NcclFilter::Allows(CollectiveOp op, Algorithm algorithm) const
{
    return (m_algorithms[static_cast<std::size_t>(op)] >> static_cast<uint32_t>(algorithm) & 1) !=
           0;
}

bool
NcclFilter::Allows(CollectiveOp op, Protocol protocol) const
{
    return (m_protocols[static_cast<std::size_t>(op)] >> static_cast<uint32_t>(protocol) & 1) != 0;
}

namespace
{

constexpr std::array<const char*, 10> COLUMNS{"collective_type",
                                              "min_bytes",
                                              "max_bytes",
                                              "algorithm",
                                              "protocol",
                                              "channels",
                                              "nNodes",
                                              "nRanks",
                                              "numPipeOps",
                                              "regBuff"};
constexpr std::size_t NEEDED_COLUMNS = 8;

std::string
Trimmed(const std::string& text)
{
    const auto first = text.find_first_not_of(" \t\r");
    const auto last = text.find_last_not_of(" \t\r");
    return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

/**
 * One line, split at its commas. @throws std::invalid_argument for a wrong number of columns or
 * value.
 */
class RuleLine
{
  public:
    RuleLine(const std::string& file, std::size_t number, const std::string& text)
        : m_location(file + ":" + std::to_string(number))
    {
        for (const std::string& field : SplitAt(text, ','))
        {
            m_fields.push_back(Trimmed(field));
        }
        if (m_fields.size() < NEEDED_COLUMNS || m_fields.size() > COLUMNS.size())
        {
            throw std::invalid_argument(m_location + ": found " + std::to_string(m_fields.size()) +
                                        " columns, expected 8 to 10");
        }
    }

    bool IsHeader() const
    {
        return m_fields.front() == COLUMNS.front();
    }

    std::size_t Fields() const
    {
        return m_fields.size();
    }

    /** Column @p column as a whole number of at least @p min. */
    int64_t Number(std::size_t column, int64_t min) const
    {
        const std::string& text = m_fields[column];
        int64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size() || value < min)
        {
            Refuse(column, "a whole number from " + std::to_string(min) + " on");
        }
        return value;
    }

    /** Column @p column as a count; nothing for -1, which stands for any. */
    std::optional<uint32_t> Count(std::size_t column) const
    {
        const int64_t value = Number(column, -1);
        if (value == 0 || value > 0xffffffffLL)
        {
            Refuse(column, "-1 or a count from 1 on");
        }
        return value < 0 ? std::nullopt : std::optional<uint32_t>(value);
    }

    /** Column @p column as the name of a value up to @p last. */
    template <typename Enum>
    Enum Name(std::size_t column, Enum last) const
    {
        std::string known;
        for (std::size_t i = 0; i <= static_cast<std::size_t>(last); ++i)
        {
            const char* name = ToString(static_cast<Enum>(i));
            if (WithoutSeparators(name) == WithoutSeparators(m_fields[column]))
            {
                return static_cast<Enum>(i);
            }
            known += (i > 0 ? ", " : "") + std::string(name);
        }
        Refuse(column, "one of: " + known);
    }

    /** As Name; nothing for -1, which stands for any. */
    template <typename Enum>
    std::optional<Enum> NameOrAny(std::size_t column, Enum last) const
    {
        return m_fields[column] == "-1" ? std::nullopt : std::optional<Enum>(Name(column, last));
    }

    [[noreturn]] void Refuse(std::size_t column, const std::string& expected) const
    {
        throw std::invalid_argument(m_location + ", column " + std::to_string(column + 1) + " (" +
                                    COLUMNS[column] + "): found '" + m_fields[column] +
                                    "', expected " + expected);
    }

  private:
    std::string m_location;
    std::vector<std::string> m_fields;
};

TunerRule
ParseRule(const RuleLine& line)
{
    TunerRule rule;
    rule.op = line.Name(0, LAST_COLLECTIVE_OP);
    rule.minBytes = Bytes(line.Number(1, 0));
    rule.maxBytes = Bytes(line.Number(2, 0));
    if (rule.maxBytes < rule.minBytes)
    {
        line.Refuse(2, "at least min_bytes");
    }
    rule.algorithm = line.NameOrAny(3, Algorithm::Pat);
    rule.protocol = line.NameOrAny(4, Protocol::Simple);
    rule.channels = line.Count(5);
    rule.nodes = line.Count(6);
    rule.ranks = line.Count(7);
    for (std::size_t column = NEEDED_COLUMNS; column < line.Fields(); ++column)
    {
        const int64_t ofOwnCalls = column == NEEDED_COLUMNS ? 1 : 0; // numPipeOps, regBuff
        const int64_t value = line.Number(column, -1);
        rule.isOfOtherCalls = rule.isOfOtherCalls || (value != -1 && value != ofOwnCalls);
    }
    return rule;
}

} // namespace

bool
TunerRule::Fits(CollectiveOp anOp, Bytes bytes, uint32_t someNodes, uint32_t someRanks) const
{
    return !isOfOtherCalls && op == anOp && minBytes <= bytes && bytes <= maxBytes &&
           (!nodes || *nodes == someNodes) && (!ranks || *ranks == someRanks);
}

std::vector<TunerRule>
ParseTunerRules(const std::string& text, const std::string& file)
{
    std::vector<TunerRule> rules;
    std::size_t number = 0;
    for (const std::string& whole : SplitAt(text, '\n'))
    {
        const std::string line = Trimmed(whole);
        ++number;
        if (line.empty() || line.front() == '#')
        {
            continue;
        }
        const RuleLine fields(file, number, line);
        if (!fields.IsHeader())
        {
            rules.push_back(ParseRule(fields));
        }
    }
    return rules;
}

namespace
{

constexpr EnumName<LaunchMode> LAUNCH_MODES[]{
    {LaunchMode::ProcessPerGpu, "process-per-gpu"},
    {LaunchMode::OneProcess, "one-process"},
    {LaunchMode::Threads, "threads"},
    {LaunchMode::Waited, "waited"},
    {LaunchMode::Graph, "graph"},
};

} // namespace

const char*
ToString(LaunchMode mode)
{
    return NameIn(LAUNCH_MODES, mode);
}

bool
SharesAddressSpace(LaunchMode mode)
{
    return mode == LaunchMode::OneProcess || mode == LaunchMode::Threads;
}

Time
LaunchTime(const NodeCosts& costs, LaunchMode mode, uint32_t gpusPerNode)
{
    if (mode == LaunchMode::Graph)
    {
        return {};
    }
    const Time kernel = costs.TimeOf(NodeCostKind::KernelLaunch);
    return mode == LaunchMode::OneProcess ? kernel * gpusPerNode : kernel;
}

Time
BlockLaunchTime(const NodeCosts& costs,
                LaunchMode mode,
                const NcclVersion& version,
                uint32_t blocks)
{
    const Time block = costs.TimeOf(version.AtLeast(19) ? NodeCostKind::BlockLaunchSince19
                                                        : NodeCostKind::BlockLaunch);
    return mode == LaunchMode::OneProcess ? block * blocks : Time();
}

Time
IdleLaunchTime(const NodeCosts& costs, LaunchMode mode)
{
    return mode == LaunchMode::Waited ? costs.TimeOf(NodeCostKind::IdleLaunch) : Time();
}

namespace
{

/** NCCL's names, and its older numbers (paths.cc, levelsOldToNew) before them. */
const std::vector<std::pair<const char*, P2pLevel>> P2P_LEVELS{{"0", P2pLevel::Local},
                                                               {"1", P2pLevel::Switch},
                                                               {"2", P2pLevel::Switches},
                                                               {"3", P2pLevel::HostBridge},
                                                               {"4", P2pLevel::System},
                                                               {"LOC", P2pLevel::Local},
                                                               {"NVL", P2pLevel::NvLink},
                                                               {"PIX", P2pLevel::Switch},
                                                               {"PXB", P2pLevel::Switches},
                                                               {"PHB", P2pLevel::HostBridge},
                                                               {"SYS", P2pLevel::System}};

} // namespace

uint32_t
NcclSettings::MergedPorts(const NodeSpec& node) const
{
    constexpr int MERGES_SINCE = 20;
    return mergeNics && NcclVersion::Parse(version).AtLeast(MERGES_SINCE) ? node.portsPerNic : 1;
}

std::vector<std::string>
NcclSettings::Changed() const
{
    const NcclSettings plain;
    const ChannelLimits& limits = plain.channelLimits;
    std::vector<std::string> keys;
    for (const auto& [key, isChanged] : std::initializer_list<std::pair<const char*, bool>>{
             {"launch", launch != plain.launch},
             {"queuePairs", queuePairs != plain.queuePairs},
             {"mergeNics", mergeNics != plain.mergeNics},
             {"pxn", pxn != plain.pxn},
             {"minChannels", channelLimits.min != limits.min},
             {"maxChannels", channelLimits.max != limits.max},
             {"crossNic", crossNic != plain.crossNic},
             {"p2pLevel", p2pLevel != plain.p2pLevel},
             {"symmetricMemory", symmetricMemory},
             {"bufferSize", simpleBuffer != plain.simpleBuffer},
             {"algorithms", !filter.GetAlgorithms().empty()},
             {"protocols", !filter.GetProtocols().empty()},
             {"tuner", !tuner.empty()},
             {"dimensionWise", dimensionWise.IsGiven()}})
    {
        if (isChanged)
        {
            keys.emplace_back(key);
        }
    }
    return keys;
}

void
NcclSettings::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Count(
        {"queuePairs",
         "NCCL_IB_QPS_PER_CONNECTION: number of queue pairs per network connection, whose paths "
         "switches choose separately."},
        queuePairs,
        {1, 128});
    visitor.Flag({"mergeNics",
                  "NCCL_IB_MERGE_NICS: whether the ports of a NIC are one device, over which NCCL "
                  "2.20 and later divide the bytes of a connection."},
                 mergeNics);
    visitor.Flag({"pxn",
                  "Whether GPUs send through the GPU near a NIC, over NVLink (NCCL 2.12 and later; "
                  "false as NCCL_PXN_DISABLE=1)."},
                 pxn);
    visitor.Count(
        {"minChannels",
         "NCCL_MIN_CTAS: minimum number of channels; channels are duplicated to reach it."},
        channelLimits.min,
        {1, 64});
    visitor.Count(
        {"maxChannels", "NCCL_MAX_CTAS: maximum number of channels."}, channelLimits.max, {1, 128});
    auto crossing = static_cast<uint32_t>(crossNic);
    visitor.Count({"crossNic",
                   "NCCL_CROSS_NIC; 0: a ring leaves a node by the NIC by which it enters; 1: by "
                   "any NIC; 2: pairs of rings swap two NICs where that is faster. 0 also keeps "
                   "sends on the receiver's rail."},
                  crossing,
                  {0, 2});
    crossNic = static_cast<CrossNic>(crossing);
    visitor.Enum({"p2pLevel",
                  "NCCL_P2P_LEVEL: farthest path (LOC, NVL, PIX, PXB, PHB, SYS, or a number) over "
                  "which GPUs "
                  "of a node copy directly; over farther paths they copy through host memory."},
                 p2pLevel,
                 P2P_LEVELS);
    visitor.Flag({"symmetricMemory",
                  "Whether all buffers are windows in symmetric memory (ncclCommWindowRegister "
                  "with NCCL_WIN_COLL_SYMMETRIC), which the kernels of NCCL 2.27 and later load "
                  "from and store to over NVLink."},
                 symmetricMemory);
    visitor.Size({"bufferSize",
                  "NCCL_BUFFSIZE: buffer size of a connection on one channel under protocol "
                  "Simple; 8 slots of whole KiB."},
                 simpleBuffer,
                 {SIMPLE_BUFFER_STEP, MAX_SIMPLE_BUFFER});
}

} // namespace weir
