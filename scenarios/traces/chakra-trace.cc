// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/traces/trace-formats.h"

#include "scenarios/traces/collective-fields.h"
#include "scenarios/traces/wire-reader.h"
#include "scenarios/yaml/input-error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

namespace weir
{

namespace
{

/** NodeType of et_def.proto. */
enum class ChakraType : uint8_t
{
    Invalid,
    Metadata,
    MemLoad,
    MemStore,
    Comp,
    CommSend,
    CommRecv,
    CommColl
};

constexpr int64_t MAX_MICROS = int64_t{1} << 40; //!< about 12 days
constexpr int64_t MAX_NODE_ID = std::numeric_limits<int64_t>::max();

/** A node in either format. */
struct ChakraNode
{
    uint64_t id{0};
    std::string name;
    ChakraType type{ChakraType::Invalid};
    std::vector<uint64_t> needs;   //!< data dependencies
    std::vector<uint64_t> parents; //!< control dependencies
    int64_t startMicros{0};
    int64_t micros{0};
    std::string inputs; //!< text of the input values
    bool isCpu{false};
    double operations{0};
    int64_t tensorSize{0};
    int64_t commType{-1};
    int64_t commSize{0};
    int64_t source{-1};
    int64_t destination{-1};
    int64_t tag{0};
    int64_t stream{TraceEvent::NO_STREAM};
    std::string group;
    std::optional<bool> involvesAllDimensions;
};

/** An attribute that is a whole number of at most max. */
struct WholeAttribute
{
    const char* name;
    int64_t ChakraNode::*value;
    int64_t max;
};

constexpr int64_t MAX_RANK = std::numeric_limits<int32_t>::max();
constexpr WholeAttribute WHOLE_ATTRIBUTES[] = {
    {"tensor_size", &ChakraNode::tensorSize, MAX_EVENT_BYTES},
    {"comm_type", &ChakraNode::commType, MAX_RANK},
    {"comm_size", &ChakraNode::commSize, MAX_EVENT_BYTES},
    {"comm_src", &ChakraNode::source, MAX_RANK},
    {"comm_dst", &ChakraNode::destination, MAX_RANK}};

/** Sets kind and op from CollectiveCommType of et_def.proto. @return whether @p type is known. */
bool
SetCallByType(TraceEvent& event, int64_t type)
{
    static constexpr CollectiveOp OPS[] = {CollectiveOp::AllReduce,
                                           CollectiveOp::Reduce,
                                           CollectiveOp::AllGather,
                                           CollectiveOp::Gather,
                                           CollectiveOp::Scatter,
                                           CollectiveOp::Broadcast,
                                           CollectiveOp::AllToAll,
                                           CollectiveOp::ReduceScatter,
                                           CollectiveOp::ReduceScatter,
                                           CollectiveOp::AllReduce};
    if (type < 0 || type >= static_cast<int64_t>(std::size(OPS)))
    {
        return false;
    }
    event.kind = TraceEventKind::Collective;
    event.op = OPS[type];
    return true;
}

class ChakraGraph
{
  public:
    /** @param isConverted written by Chakra's converter of PyTorch traces, not by a generator */
    ChakraGraph(const std::string& path, const TraceOptions& options, bool isConverted)
        : m_path(path),
          m_isConverted(isConverted),
          m_givesShards(options.gatherSize == GatherSize::ByFile
                            ? isConverted
                            : options.gatherSize == GatherSize::Shard)
    {
        m_file.path = path;
        m_rank.file = path;
        m_rank.rank = RankOfFileName(path);
        for (const auto& [name, ranks] : options.groups)
        {
            m_rank.groups[name].ranks = ranks;
        }
        m_isGrouped = !options.groups.empty();
    }

    std::string Location(const ChakraNode& node) const
    {
        return m_path + ": node " + std::to_string(node.id);
    }

    void Add(const ChakraNode& node)
    {
        m_file.nodes++;
        if (!m_index.emplace(node.id, static_cast<uint32_t>(m_rank.events.size())).second)
        {
            throw InputError(Location(node) + ": found this id again, expected each once");
        }
        TraceEvent event;
        event.id = "node " + std::to_string(node.id);
        event.name = node.name;
        event.isHost = node.isCpu;
        event.stream = node.isCpu ? TraceEvent::NO_STREAM : node.stream;
        event.duration = Time::Microseconds(static_cast<double>(node.micros));
        if (node.startMicros > 0)
        {
            event.begin = Time::Microseconds(static_cast<double>(node.startMicros));
        }
        Fill(node, event);
        m_file.kernels += event.kind != TraceEventKind::Mark && !node.isCpu ? 1 : 0;
        m_rank.events.push_back(std::move(event));
        m_needs.push_back(node.needs);
        if (!m_isConverted)
        {
            m_needs.back().insert(m_needs.back().end(), node.parents.begin(), node.parents.end());
        }
        m_parents += node.parents.size();
    }

    TraceFile Finish(const std::string& dialect)
    {
        SortById();
        for (std::size_t i = 0; i < m_rank.events.size(); i++)
        {
            for (const uint64_t need : m_needs[i])
            {
                const auto found = m_index.find(need);
                if (found == m_index.end())
                {
                    if (m_file.dangling++ == 0)
                    {
                        m_file.firstDangling =
                            m_rank.events[i].id + " after node " + std::to_string(need);
                    }
                    continue;
                }
                m_rank.events[i].after.push_back(found->second);
            }
        }
        m_file.dialect = dialect;
        AddRemark(m_unpaired, UNPAIRED, m_file.remarks);
        AddRemark(m_isConverted ? m_parents : 0,
                  "control dependencies are of nested calls on the host and are ignored: only data "
                  "dependencies order nodes",
                  m_file.remarks);
        std::size_t unlisted = 0;
        for (const std::string& group : m_used)
        {
            unlisted += m_rank.groups.try_emplace(group).second && !group.empty() ? 1 : 0;
        }
        AddRemark(unlisted,
                  "process groups are not listed: taken as all ranks (--groups)",
                  m_file.remarks);
        if (m_hasGather)
        {
            m_file.remarks.push_back(
                std::string("comm_size of an all-gather is taken as ") +
                (m_givesShards ? "the rank's contribution" : "the gathered result") +
                " (--gather-size)");
        }
        m_file.ranks.push_back(std::move(m_rank));
        return std::move(m_file);
    }

  private:
    /** Sorts the events by node id, in which ASTRA-sim issues ready nodes, whatever their order. */
    void SortById()
    {
        std::vector<std::pair<uint64_t, uint32_t>> order(m_index.begin(), m_index.end());
        std::sort(order.begin(), order.end());
        std::vector<TraceEvent> events;
        std::vector<std::vector<uint64_t>> needs;
        for (const auto& [id, from] : order)
        {
            m_index[id] = static_cast<uint32_t>(events.size());
            events.push_back(std::move(m_rank.events[from]));
            needs.push_back(std::move(m_needs[from]));
        }
        m_rank.events = std::move(events);
        m_needs = std::move(needs);
    }

    void Fill(const ChakraNode& node, TraceEvent& event)
    {
        switch (node.type)
        {
        case ChakraType::Metadata:
            if (node.name.find("process_group:init") != std::string::npos && !m_isGrouped)
            {
                ReadProcessGroups(node.inputs, Location(node), m_rank);
            }
            m_file.dropped["metadata"]++;
            return;
        case ChakraType::MemLoad:
        case ChakraType::MemStore:
        case ChakraType::Comp:
            SetCompute(node, event);
            return;
        case ChakraType::CommSend:
        case ChakraType::CommRecv:
        case ChakraType::CommColl:
            if (node.isCpu)
            {
                SetCompute(node, event); // launch only; the GPU's node has the traffic
                m_file.dropped["CPU side of a communication"]++;
                return;
            }
            node.type == ChakraType::CommColl ? SetCollective(node, event) : SetPair(node, event);
            return;
        case ChakraType::Invalid:
            break;
        }
        throw InputError(Location(node) + ": found node type 0, expected 1 to 7 (NodeType)");
    }

    static void SetCompute(const ChakraNode& node, TraceEvent& event)
    {
        event.kind = TraceEventKind::Compute;
        event.flops = node.operations;
        event.memory = Bytes(node.tensorSize);
    }

    void SetCollective(const ChakraNode& node, TraceEvent& event)
    {
        if (!SetCallByType(event, node.commType) && !SetCallByName(event, node.name))
        {
            throw InputError(Location(node) + ": found a collective '" + node.name.substr(0, 60) +
                             "' with comm_type " + std::to_string(node.commType) +
                             ", expected 0 to 9 (CollectiveCommType)");
        }
        if (node.involvesAllDimensions == false && node.group.empty())
        {
            throw InputError(Location(node) +
                             ": found involved_dim with a false, which does not define the ranks, "
                             "expected pg_name with --groups");
        }
        event.kind = TraceEventKind::Collective;
        event.group = node.group;
        event.category = CategoryOfGroup(node.group);
        if (m_isGrouped && !node.group.empty() && m_rank.groups.count(node.group) == 0)
        {
            throw InputError(Location(node) + ": found process group '" + node.group +
                             "', expected one that --groups has");
        }
        m_used.insert(node.group);
        if (m_isConverted && event.stream == TraceEvent::NO_STREAM)
        {
            // PyTorch uses one stream per process group; CUDA stream numbers are never this high.
            constexpr int64_t FIRST = int64_t{1} << 32;
            event.stream =
                m_streams.try_emplace(node.group, FIRST + m_streams.size()).first->second;
        }
        const bool gathers =
            event.op == CollectiveOp::AllGather || event.op == CollectiveOp::Gather;
        m_hasGather = m_hasGather || gathers;
        (gathers && !m_givesShards ? event.out : event.in) = Bytes(node.commSize);
    }

    void SetPair(const ChakraNode& node, TraceEvent& event)
    {
        const bool sends = node.type == ChakraType::CommSend;
        const int64_t peer = sends ? node.destination : node.source;
        if (peer < 0 && m_isConverted)
        {
            event.kind = TraceEventKind::Compute; // the converter writes no peers
            m_unpaired++;
            return;
        }
        if (peer < 0)
        {
            throw InputError(Location(node) + ": found a " +
                             (sends ? "send without comm_dst" : "receive without comm_src") +
                             ", expected the rank of its peer");
        }
        event.kind = sends ? TraceEventKind::Send : TraceEventKind::Recv;
        event.peer = static_cast<uint32_t>(peer);
        event.tag = node.tag;
        event.category = TimeCategory::Pipeline;
        (sends ? event.in : event.out) = Bytes(node.commSize);
    }

    std::string m_path;
    bool m_isConverted;
    bool m_givesShards;
    std::size_t m_parents{0};
    std::size_t m_unpaired{0};                //!< sends and receives without a peer
    std::set<std::string> m_used;             //!< process groups of collectives
    std::map<std::string, int64_t> m_streams; //!< by group, for nodes without a stream
    bool m_isGrouped{false};
    bool m_hasGather{false};
    TraceFile m_file;
    RankTrace m_rank;
    std::unordered_map<uint64_t, uint32_t> m_index;
    std::vector<std::vector<uint64_t>> m_needs;
};

/** An AttributeProto: its name and its value, for any numeric type. */
struct ChakraAttribute
{
    std::string name;
    std::string text;
    bool isText{false};
    double number{0};
    int64_t whole{0};
    std::vector<bool> flags; //!< of a bool_list
};

std::vector<bool>
FlagsOf(std::string_view bytes, const std::string& location)
{
    std::vector<bool> flags;
    WireReader list(bytes, location);
    while (list.Next())
    {
        if (list.Type() != WireType::Bytes)
        {
            flags.push_back(list.Number() != 0);
            continue;
        }
        for (const char each : list.Text())
        {
            flags.push_back(each != 0);
        }
    }
    return flags;
}

ChakraAttribute
AttributeOf(std::string_view bytes, const std::string& location)
{
    constexpr uint64_t DOUBLE = 3; // field numbers of the oneof
    constexpr uint64_t FLOAT = 5;
    constexpr uint64_t INT32 = 7;
    constexpr uint64_t SINT32 = 15;
    constexpr uint64_t SINT64 = 17;
    constexpr uint64_t SFIXED32 = 23;
    constexpr uint64_t BOOL_LIST = 28;
    constexpr uint64_t STRING = 29;
    ChakraAttribute attribute;
    WireReader reader(bytes, location);
    while (reader.Next())
    {
        const uint64_t bits = reader.Number();
        switch (reader.Field())
        {
        case 1:
            attribute.name = reader.Text();
            break;
        case DOUBLE:
            std::memcpy(&attribute.number, &bits, sizeof(double));
            break;
        case FLOAT: {
            const auto low = static_cast<uint32_t>(bits);
            float number = 0;
            std::memcpy(&number, &low, sizeof(float));
            attribute.number = number;
            break;
        }
        case STRING:
            attribute.text = reader.Text();
            attribute.isText = true;
            break;
        case BOOL_LIST:
            attribute.flags = FlagsOf(reader.Text(), location);
            break;
        case SINT32:
        case SINT64: // zigzag
            attribute.whole = static_cast<int64_t>((bits >> 1) ^ (0 - (bits & 1)));
            attribute.number = static_cast<double>(attribute.whole);
            break;
        case INT32:
        case SFIXED32:
            attribute.whole = static_cast<int32_t>(bits);
            attribute.number = static_cast<double>(attribute.whole);
            break;
        default:
            attribute.whole = static_cast<int64_t>(bits);
            attribute.number = static_cast<double>(attribute.whole);
        }
    }
    return attribute;
}

int64_t
WholeOf(const ChakraAttribute& attribute, int64_t max, const std::string& location)
{
    const bool isReal = attribute.whole == 0 && attribute.number != 0;
    const int64_t whole = isReal && std::abs(attribute.number) < 9e18
                              ? static_cast<int64_t>(attribute.number)
                              : attribute.whole;
    if (whole < 0 || whole > max || (isReal && static_cast<double>(whole) != attribute.number))
    {
        throw InputError(location + ": found " + attribute.name + " " +
                         std::to_string(isReal ? attribute.number : static_cast<double>(whole)) +
                         ", expected a whole number of 0 to " + std::to_string(max));
    }
    return whole;
}

/** Copies an attribute that the import needs to @p node. */
void
TakeAttribute(const ChakraAttribute& attribute, const std::string& location, ChakraNode& node)
{
    const std::string& name = attribute.name;
    for (const WholeAttribute& whole : WHOLE_ATTRIBUTES)
    {
        if (name == whole.name)
        {
            node.*whole.value = WholeOf(attribute, whole.max, location);
        }
    }
    if (name == "is_cpu_op")
    {
        node.isCpu = attribute.whole != 0;
    }
    else if (name == "num_ops")
    {
        if (!std::isfinite(attribute.number))
        {
            throw InputError(location + ": found num_ops " + std::to_string(attribute.number) +
                             ", expected a number");
        }
        node.operations = std::max(0.0, attribute.number);
    }
    else if (name == "comm_tag")
    {
        node.tag = attribute.whole;
    }
    else if (name == "stream")
    {
        node.stream = attribute.whole;
    }
    else if (name == "pg_name")
    {
        node.group = attribute.isText ? attribute.text : std::to_string(attribute.whole);
    }
    else if (name == "involved_dim")
    {
        node.involvesAllDimensions =
            std::all_of(attribute.flags.begin(), attribute.flags.end(), [](bool is) { return is; });
    }
}

/** Adds the values of a repeated numeric field, packed or not. */
void
AddNumbers(const WireReader& reader, const std::string& location, std::vector<uint64_t>& numbers)
{
    if (reader.Type() != WireType::Bytes)
    {
        numbers.push_back(reader.Number());
        return;
    }
    WireReader packed(reader.Text(), location);
    while (!packed.IsEmpty())
    {
        numbers.push_back(packed.Varint());
    }
}

ChakraNode
NodeOf(std::string_view bytes, const std::string& location)
{
    ChakraNode node;
    std::vector<std::string_view> attributes;
    WireReader reader(bytes, location);
    while (reader.Next())
    {
        const uint64_t number = reader.Number();
        switch (reader.Field())
        {
        case 1:
            node.id = number;
            break;
        case 2:
            node.name = reader.Text();
            break;
        case 3:
            node.type = number <= static_cast<uint64_t>(ChakraType::CommColl)
                            ? static_cast<ChakraType>(number)
                            : ChakraType::Invalid;
            break;
        case 4:
        case 5:
            AddNumbers(reader, location, reader.Field() == 4 ? node.parents : node.needs);
            break;
        case 6:
        case 7:
            (reader.Field() == 6 ? node.startMicros : node.micros) = static_cast<int64_t>(number);
            break;
        case 8: {
            WireReader inputs(reader.Text(), location);
            while (inputs.Next())
            {
                node.inputs = inputs.Field() == 1 ? std::string(inputs.Text()) : node.inputs;
            }
            break;
        }
        case 10:
            attributes.push_back(reader.Text());
            break;
        case 11:
            throw InputError(location +
                             ": found attributes in field 11, as Chakra's schemas before "
                             "2023-10 have them, expected field 10");
        default:
            break;
        }
    }
    const std::string where = location + " (node " + std::to_string(node.id) + ")";
    for (const std::string_view attribute : attributes)
    {
        TakeAttribute(AttributeOf(attribute, where), where, node);
    }
    if (node.micros < 0 || node.micros > MAX_MICROS || node.startMicros < 0)
    {
        throw InputError(where + ": found a duration or start of " +
                         std::to_string(static_cast<uint64_t>(node.micros)) +
                         " us, expected at most " + std::to_string(MAX_MICROS));
    }
    // A start time may have any origin; values beyond the range of Time are ignored.
    node.startMicros = node.startMicros > MAX_MICROS * 8 ? 0 : node.startMicros;
    return node;
}

} // namespace

bool
IsChakra(const std::string& bytes)
{
    constexpr std::size_t MAX_METADATA = 127; // one-byte length of a message with a version only;
                                              // with attributes the length has two bytes
    if (bytes.size() < 2 || bytes[0] == '{' || bytes[0] == '[')
    {
        return false;
    }
    const auto length = static_cast<unsigned char>(bytes[0]);
    const std::size_t at = length > MAX_METADATA ? 2 : 1; // the length has two bytes
    return length == 0 || (bytes.size() > at && (bytes[at] == 0x0a || bytes[at] == 0x12));
}

TraceFile
ReadChakra(const TraceBytes& file, const TraceOptions& options)
{
    const std::string& path = file.name;
    WireReader stream(file.bytes, path);
    std::string version;
    bool isConverted = false;
    WireReader metadata(stream.Take(stream.Varint()), path + ": GlobalMetadata");
    while (metadata.Next())
    {
        if (metadata.Field() == 1)
        {
            version = metadata.Text();
        }
        else if (metadata.Field() == 2)
        {
            isConverted = isConverted ||
                          AttributeOf(metadata.Text(), path + ": GlobalMetadata").name == "schema";
        }
    }
    if (version.empty() && !isConverted)
    {
        throw InputError(path +
                         ": found GlobalMetadata without version and schema, as before "
                         "2023-10, expected version 0.0.4 or 1.0.0");
    }
    ChakraGraph graph(path, options, isConverted);
    for (std::size_t message = 1; !stream.IsEmpty(); message++)
    {
        const std::string location = path + ": message " + std::to_string(message);
        graph.Add(NodeOf(stream.Take(stream.Varint()), location));
    }
    return graph.Finish("Chakra ET " + (version.empty() ? "of the converter" : version) +
                        " (protobuf)");
}

TraceFile
ReadChakraJson(const Json& root, const std::string& path, const TraceOptions& options)
{
    ChakraGraph graph(path, options, true);
    constexpr const char* CONTROL = "ctrlDeps";
    constexpr const char* DATA = "data_deps";
    std::size_t count = 0;
    for (const Json& item : ListOf(FieldOf(root, "workload_graph", path), path))
    {
        const std::string where = path + ": node number " + std::to_string(count++);
        ChakraNode node;
        node.id =
            static_cast<uint64_t>(IntegerOf(FieldOf(item, "Id", where), 0, MAX_NODE_ID, where));
        const std::string location = graph.Location(node);
        node.name = TextOf(item, "Name", "", location);
        node.type =
            static_cast<ChakraType>(IntegerOf(FieldOf(item, "NodeType", location), 0, 7, location));
        node.micros = IntegerOf(item, "runtime", 0, 0, MAX_MICROS, location);
        for (const char* key : {CONTROL, DATA})
        {
            const Json* needs = FindField(item, key);
            for (const Json& need : needs == nullptr ? Json::array() : ListOf(*needs, location))
            {
                (key == DATA ? node.needs : node.parents)
                    .push_back(static_cast<uint64_t>(IntegerOf(need, 0, MAX_NODE_ID, location)));
            }
        }
        const Json* isCpu = FindField(item, "is_cpu_op");
        node.isCpu = isCpu != nullptr && (isCpu->is_boolean() ? isCpu->get<bool>() : *isCpu != 0);
        node.operations =
            static_cast<double>(IntegerOf(item, "num_ops", 0, 0, MAX_NODE_ID, location));
        for (const auto& [name, value, max] : WHOLE_ATTRIBUTES)
        {
            const int64_t absent = node.*value;
            node.*value = IntegerOf(item, name, absent, absent, max, location);
        }
        node.tag = IntegerOf(item, "comm_tag", 0, -MAX_NODE_ID, MAX_NODE_ID, location);
        graph.Add(node);
    }
    return graph.Finish("Chakra ET (JSON)");
}

} // namespace weir
