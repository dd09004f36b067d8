// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/traces/trace-formats.h"

#include "scenarios/traces/collective-fields.h"
#include "scenarios/workload/workload-file.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace weir
{

namespace
{

constexpr int64_t MAX_NUMBER = std::numeric_limits<int64_t>::max();
constexpr auto MAX_GROUP = static_cast<int64_t>(MAX_WORKLOAD_RANKS);

/** Finds a value of a node in `attrs` or, before schema 1.0.2, on the node itself. */
const Json*
FindAttribute(const Json& node, const std::string& name)
{
    const Json* list = FindField(node, "attrs");
    if (list == nullptr)
    {
        return FindField(node, name.c_str());
    }
    for (std::size_t i = 0; list->is_array() && i < list->size(); i++)
    {
        const Json& item = (*list)[i];
        const Json* found = FindField(item, "name");
        if (found != nullptr && *found == name)
        {
            return FindField(item, "value");
        }
    }
    return nullptr;
}

int64_t
AttributeNumber(const Json& node, const char* name, int64_t absent, const std::string& location)
{
    const Json* value = FindAttribute(node, name);
    return value == nullptr || value->is_null() ? absent
                                                : IntegerOf(*value,
                                                            std::numeric_limits<int64_t>::min(),
                                                            MAX_NUMBER,
                                                            location + ", " + name);
}

std::string
AttributeText(const Json& node, const char* name)
{
    const Json* value = FindAttribute(node, name);
    return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

/** The values of `inputs` or `outputs`; before schema 1.0.2 the field itself is the list. */
const Json*
ValuesOf(const Json& node, const char* key)
{
    const Json* found = FindField(node, key);
    return found != nullptr && found->is_object() ? FindField(*found, "values") : found;
}

/** Total bytes of all tensors in @p value: [id, storage, offset, elements, bytes each, device]. */
int64_t
TensorBytes(const Json& value, const std::string& location, int depth = 0)
{
    constexpr std::size_t TUPLE = 6;
    constexpr int MAX_DEPTH = 8; // a list of lists of tensors
    if (!value.is_array() || depth > MAX_DEPTH)
    {
        return 0;
    }
    if (value.size() == TUPLE && value[0].is_number() && value[TUPLE - 1].is_string())
    {
        const int64_t count = IntegerOf(value[3], 0, MAX_EVENT_BYTES, location + ", tensor");
        const int64_t each = IntegerOf(value[4], 0, 1024, location + ", tensor");
        return std::min(MAX_EVENT_BYTES, count * std::max<int64_t>(each, 1));
    }
    int64_t sum = 0;
    for (const Json& item : value)
    {
        sum = std::min(MAX_EVENT_BYTES, sum + TensorBytes(item, location, depth + 1));
    }
    return sum;
}

/** The tensor type of the first input: "float" for "GenericList[Tensor(float)]". */
std::string
TensorType(const Json& node)
{
    const Json* inputs = FindField(node, "inputs");
    const Json* types = inputs != nullptr && inputs->is_object() ? FindField(*inputs, "types")
                                                                 : FindField(node, "input_types");
    if (types == nullptr || !types->is_array() || types->empty() || !types->front().is_string())
    {
        return "";
    }
    const std::string text = types->front().get<std::string>();
    const std::size_t begin = text.find("Tensor(");
    const std::size_t end = text.find(')', begin == std::string::npos ? 0 : begin);
    constexpr std::size_t WORD = 7; // length of "Tensor("
    return begin == std::string::npos || end == std::string::npos
               ? ""
               : text.substr(begin + WORD, end - begin - WORD);
}

class ExecutionTraceReader
{
  public:
    ExecutionTraceReader(const Json& root, const std::string& path)
        : m_root(root)
    {
        m_file.path = path;
        m_rank.file = path;
        m_rank.rank = RankOfFileName(path);
    }

    TraceFile Read()
    {
        const std::string schema = TextOf(m_root, "schema", "?", m_file.path);
        const Json& nodes = ListOf(FieldOf(m_root, "nodes", m_file.path), m_file.path + ": nodes");
        for (const Json& node : nodes)
        {
            const std::string where = m_file.path + ": node number " + std::to_string(m_file.nodes);
            m_nodes.push_back({IntegerOf(FieldOf(node, "id", where), 0, MAX_NUMBER, where), &node});
            m_file.nodes++;
        }
        // Nodes are not sorted; ids increase with the start of operations.
        std::stable_sort(m_nodes.begin(), m_nodes.end(), [](const Node& a, const Node& b) {
            return a.id < b.id;
        });
        for (const Node& node : m_nodes)
        {
            Take(node);
        }
        m_file.dialect = "PyTorch ExecutionTrace " + schema;
        AddRemark(m_abbreviated, ABBREVIATED, m_file.remarks);
        m_file.isHostTrace = true;
        m_file.remarks.push_back(std::to_string(m_records) + " record_param_comms");
        m_file.remarks.emplace_back(
            "no times: only collectives are played, those of one group sequentially");
        if (m_hasRoots)
        {
            m_file.remarks.emplace_back("roots are not recorded: group rank 0 is assumed");
        }
        m_rank.isOrdered = true;
        m_file.ranks.push_back(std::move(m_rank));
        return std::move(m_file);
    }

  private:
    struct Node
    {
        int64_t id;
        const Json* json;
    };

    void Take(const Node& node)
    {
        const std::string location = m_file.path + ": node " + std::to_string(node.id);
        const std::string name = TextOf(*node.json, "name", "", location);
        const auto recordId =
            static_cast<uint64_t>(AttributeNumber(*node.json, "rf_id", 0, location));
        const char* parentKey =
            FindField(*node.json, "ctrl_deps") != nullptr ? "ctrl_deps" : "parent";
        const int64_t parent = IntegerOf(*node.json, parentKey, -1, -1, MAX_NUMBER, location);
        if (name.compare(0, 6, "c10d::") == 0)
        {
            m_c10d[node.id] = recordId;
            m_file.dropped["c10d view of a collective"]++;
        }
        else if (name == "record_param_comms")
        {
            TakeCall(node, parent, recordId, location);
        }
        else if (name.compare(0, 5, "nccl:") == 0)
        {
            m_file.dropped["nccl view of a collective"]++;
            if (const auto call = m_calls.find(parent); call != m_calls.end())
            {
                m_rank.hostCalls[call->second].recordIds.push_back(recordId);
            }
        }
        else if (name.find("process_group:init") != std::string::npos)
        {
            const Json* values = ValuesOf(*node.json, "inputs");
            ReadProcessGroups(values == nullptr ? "" : values->dump(), location, m_rank);
        }
    }

    /**
     * Reads the positional values of record_param_comms: tensors, sequence, group, rank, name,
     * splits.
     */
    void TakeCall(const Node& node, int64_t parent, uint64_t recordId, const std::string& location)
    {
        const Json* values = ValuesOf(*node.json, "inputs");
        const Json none;
        const Json& list = ListOf(values == nullptr ? none : *values, location + ", inputs");
        m_records++;
        // The name is the first text after sequence, group and rank.
        std::size_t at = 3;
        while (at < list.size() && !list[at].is_string())
        {
            at++;
        }
        if (at >= list.size())
        {
            throw InputError(location +
                             ": found record_param_comms without a name among its inputs, "
                             "expected tensors, sequence, group, rank, name, splits");
        }
        const std::string name = list[at].get<std::string>();
        if (name == "wait")
        {
            m_file.dropped["wait"]++;
            return;
        }
        HostCall call;
        TraceEvent& event = call.event;
        event.id = "node " + std::to_string(node.id);
        event.name = name;
        if (!SetCallByName(event, name))
        {
            m_file.dropped["'" + name.substr(0, 40) + "', which is no collective"]++;
            return;
        }
        IntegerOf(list[at - 3], -1, MAX_NUMBER, location + ", sequence"); // only checked
        SetGroup(*node.json, list, at, location, event);
        SetSizes(*node.json, list, at, location, event);
        call.recordIds.push_back(recordId);
        if (const auto view = m_c10d.find(parent); view != m_c10d.end())
        {
            call.recordIds.push_back(view->second);
        }
        m_calls[node.id] = m_rank.hostCalls.size();
        event.stream = m_streams.try_emplace(event.group, m_streams.size()).first->second;
        if (event.kind == TraceEventKind::Collective)
        {
            m_rank.events.push_back(event);
            m_hasRoots = m_hasRoots || event.op == CollectiveOp::Broadcast ||
                         event.op == CollectiveOp::Reduce;
        }
        else
        {
            m_file.dropped["send or receive without a peer"]++;
        }
        m_rank.hostCalls.push_back(std::move(call));
    }

    void SetGroup(const Json& node,
                  const Json& list,
                  std::size_t at,
                  const std::string& location,
                  TraceEvent& event)
    {
        const Json& group = list[at - 2];
        event.group = AttributeText(node, "pg_name");
        if (event.group.empty() && group.is_array() && !group.empty() && group[0].is_string())
        {
            event.group = group[0].get<std::string>();
        }
        const std::string about = AttributeText(node, "pg_desc") + " " + FoundText(group);
        event.category = CategoryOfGroup(AttributeText(node, "pg_desc"));
        const auto positional = [&](std::size_t offset) {
            return at + offset < list.size()
                       ? IntegerOf(list[at + offset], -1, MAX_NUMBER, location + ", group")
                       : -1;
        };
        const int64_t first = AttributeNumber(node, "global_rank_start", positional(3), location);
        const int64_t stride = AttributeNumber(node, "global_rank_stride", positional(4), location);
        const int64_t size = AttributeNumber(node, "pg_size", positional(5), location);
        if (size > MAX_GROUP || first > MAX_GROUP || stride > MAX_GROUP)
        {
            throw InputError(location + ": found a group of " + std::to_string(size) +
                             " ranks from " + std::to_string(first) + ", expected at most " +
                             std::to_string(MAX_GROUP));
        }
        TraceGroup& known = m_rank.groups[event.group];
        if (known.ranks.empty() && known.size == 0 && size > 0)
        {
            known.size = static_cast<uint32_t>(size);
            known.stride = static_cast<uint32_t>(std::max<int64_t>(1, stride));
            for (int64_t i = 0; first >= 0 && stride > 0 && i < size; i++)
            {
                known.ranks.push_back(static_cast<uint32_t>(first + i * stride));
            }
        }
        const int64_t rank = IntegerOf(list[at - 1], -1, MAX_GROUP, location + ", rank");
        if (!m_rank.rank && rank >= 0 && first <= 0 && stride <= 1)
        {
            m_rank.rank = static_cast<uint32_t>(rank);
        }
    }

    void SetSizes(const Json& node,
                  const Json& list,
                  std::size_t at,
                  const std::string& location,
                  TraceEvent& event)
    {
        event.dtype = AttributeText(node, "dtype");
        const int64_t each = ElementBytes(event.dtype);
        const int64_t inCount = AttributeNumber(node, "in_msg_nelems", -1, location);
        const int64_t outCount = AttributeNumber(node, "out_msg_nelems", -1, location);
        if (each > 0 && inCount >= 0 && inCount < MAX_EVENT_BYTES && outCount >= 0 &&
            outCount < MAX_EVENT_BYTES)
        {
            event.in = Bytes(inCount * each);
            event.out = Bytes(outCount * each);
        }
        else
        {
            const Json* outputs = ValuesOf(node, "outputs");
            event.dtype = event.dtype.empty() ? TensorType(node) : event.dtype;
            event.in = Bytes(at >= 4 ? TensorBytes(list[at - 4], location) : 0);
            event.out = Bytes(outputs == nullptr ? 0 : TensorBytes(*outputs, location));
        }
        if (event.in == Bytes() && event.out == Bytes() && event.name == "barrier")
        {
            event.in = event.out = Bytes(4); // PyTorch's NCCL barrier reduces one float
        }
        const auto partsOf = [&](const char* name, std::size_t position) {
            const Json* given = FindAttribute(node, name);
            const Json* listed = position < list.size() ? &list[position] : nullptr;
            const Json* parts = given != nullptr ? given : listed;
            m_abbreviated += IsAbbreviated(parts) ? 1 : 0;
            return NumbersOf(parts, MAX_EVENT_BYTES, location + ", splits");
        };
        SetSplits(event, partsOf("in_split_size", at + 1), partsOf("out_split_size", at + 2));
    }

    const Json& m_root;
    TraceFile m_file;
    RankTrace m_rank;
    std::vector<Node> m_nodes;
    std::unordered_map<int64_t, uint64_t> m_c10d;     //!< rf_id by node
    std::unordered_map<int64_t, std::size_t> m_calls; //!< index into hostCalls by node
    std::map<std::string, int64_t> m_streams;         //!< by group
    std::size_t m_records{0};                         //!< number of record_param_comms
    std::size_t m_abbreviated{0};                     //!< number of lists of splits
    bool m_hasRoots{false};
};

} // namespace

TraceFile
ReadExecutionTrace(const Json& root, const std::string& path)
{
    return ExecutionTraceReader(root, path).Read();
}

} // namespace weir
