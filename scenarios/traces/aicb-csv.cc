// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/traces/trace-formats.h"

#include "scenarios/traces/collective-fields.h"
#include "scenarios/traces/trace-lines.h"
#include "scenarios/workload/workload-file.h"
#include "scenarios/yaml/names.h"

#include <cstdlib>

namespace weir
{

namespace
{

constexpr std::string_view AICB_COLUMNS = "comm_type,comm_group";

/** The communication types of AICB's CommType; it also has "computation" and "epoch_end". */
const std::vector<std::string>&
CommunicationTypes()
{
    static const std::vector<std::string> TYPES = SplitText(
        "all_reduce all_gather all_gather_into_tensor reduce_scatter reduce_scatter_tensor "
        "all_to_all broadcast reduce barrier isend irecv",
        ' ');
    return TYPES;
}

/** Name of an enumerator: "all_reduce" for "CommType.all_reduce"; empty for "None". */
std::string
EnumText(std::string_view text)
{
    const std::string_view name = text.substr(text.find('.') + 1);
    return name == "None" ? "" : std::string(name);
}

class AicbReader
{
  public:
    AicbReader(const TraceBytes& file, const TraceOptions& options)
        : m_lines(file.bytes, file.name),
          m_options(options)
    {
        m_file.path = file.name;
        m_rank.file = file.name;
    }

    TraceFile Read()
    {
        while (m_lines.Next() && m_lines.Line().find(AICB_COLUMNS) == std::string_view::npos)
        {
            m_named = std::max(m_named, LastRank() + 1);
        }
        ReadHeader();
        while (m_lines.Next())
        {
            if (!m_lines.Line().empty())
            {
                ReadRow();
            }
        }
        SetGroups();
        m_file.dialect = Has("comm_group_size") ? "AICB CSV" : "AICB CSV (without comm_group_size)";
        m_file.remarks.emplace_back(
            "rows run one after the other; a barrier is an all-reduce of 4 B");
        m_file.ranks.push_back(std::move(m_rank));
        return std::move(m_file);
    }

  private:
    /**
     * The last rank of the range in the current line: 127 for "[rank0 ~ rank127]"; 0 if there is
     * none. @throws InputError if there are more than MAX_WORKLOAD_RANKS.
     */
    uint32_t LastRank() const
    {
        const std::string_view line = m_lines.Line();
        const std::size_t at = line.rfind("rank");
        const std::string_view text =
            at == std::string_view::npos ? std::string_view() : line.substr(at + 4);
        const std::string_view number = text.substr(0, text.find_first_not_of("-0123456789"));
        constexpr auto MAX_RANK = static_cast<int64_t>(MAX_WORKLOAD_RANKS) - 1;
        return number.find_first_not_of('-') == std::string_view::npos
                   ? 0
                   : static_cast<uint32_t>(m_lines.Whole(number, "last rank", MAX_RANK));
    }

    void ReadHeader()
    {
        const auto names = m_lines.Fields(",");
        for (std::size_t i = 0; i < names.size(); i++)
        {
            m_columns[names[i]] = i;
        }
        if (!Has("comm_type") || !Has("comm_group") || !Has("msg_size"))
        {
            m_lines.Fail(
                "columns", m_lines.Line(), "comm_type, comm_group and msg_size among them");
        }
        m_columnCount = names.size();
    }

    bool Has(std::string_view column) const
    {
        return m_columns.count(column) > 0;
    }

    /** The field of a row in @p column; "None" where the file has no such column. */
    std::string_view Field(const std::vector<std::string_view>& fields,
                           std::string_view column) const
    {
        return Has(column) ? fields[m_columns.at(column)] : std::string_view("None");
    }

    void ReadRow()
    {
        const auto fields = m_lines.Fields(",");
        if (fields.size() != m_columnCount)
        {
            m_lines.Fail("row", m_lines.Line(), std::to_string(m_columnCount) + " columns");
        }
        m_file.nodes++;
        const std::string type = EnumText(Field(fields, "comm_type"));
        if (type == "epoch_end")
        {
            m_file.dropped["epoch_end"]++;
            return;
        }
        TraceEvent event;
        event.id = m_lines.Id();
        event.name = std::string(Field(fields, "stage")) + ", " + type;
        event.duration = Elapsed(Field(fields, "_elapsed_time"));
        if (!m_rank.events.empty())
        {
            event.after = {static_cast<uint32_t>(m_rank.events.size()) - 1};
        }
        if (type == "computation")
        {
            event.kind = TraceEventKind::Compute;
            event.stream = 0;
            m_file.kernels++;
        }
        else
        {
            const std::string group = EnumText(Field(fields, "comm_group"));
            const std::vector<std::string>& types = CommunicationTypes();
            if (!IsAmong(type, types))
            {
                m_lines.Fail("comm_type",
                             type,
                             "one of: " + JoinNames(types) + ", computation, epoch_end" +
                                 DidYouMean(type, types));
            }
            SetCallByName(event, type);
            event.group = group;
            event.category = CategoryOfGroup(group);
            SetSize(event, type, Field(fields, "msg_size"));
            const std::string_view size = Field(fields, "comm_group_size");
            if (!EnumText(size).empty())
            {
                SetGroupSize(group, size);
            }
            m_rank.groups.try_emplace(group);
        }
        m_rank.events.push_back(std::move(event));
    }

    /**
     * Sets the size of a group.
     * @throws InputError if rows disagree on it or it exceeds the number of ranks in the first
     *         line.
     */
    void SetGroupSize(const std::string& group, std::string_view text)
    {
        const auto ranks = static_cast<uint32_t>(
            m_lines.Whole(text, "comm_group_size", static_cast<int64_t>(MAX_WORKLOAD_RANKS)));
        if (ranks == 0)
        {
            m_lines.Fail("comm_group_size", text, "1 or more, or None");
        }
        if (m_named > 1 && ranks > m_named)
        {
            m_lines.Fail("comm_group_size",
                         text,
                         "at most the " + std::to_string(m_named) + " ranks of the line above");
        }
        const auto [sized, isFirst] = m_sizedAt.try_emplace(group, m_lines.Id());
        TraceGroup& known = m_rank.groups[group];
        if (!isFirst && known.size != ranks)
        {
            m_lines.Fail("comm_group_size",
                         text,
                         std::to_string(known.size) + ", as " + group + " has in " + sized->second);
        }
        known.size = ranks;
    }

    void SetSize(TraceEvent& event, const std::string& type, std::string_view text) const
    {
        constexpr int64_t BARRIER = 4; // bytes of its single element
        std::string_view plain = text == "None" ? std::string_view("0") : text;
        const std::size_t point = plain.find('.');
        if (point != std::string_view::npos && // "4096.0"
            plain.find_first_not_of('0', point + 1) == std::string_view::npos)
        {
            plain = plain.substr(0, point);
        }
        Bytes bytes(plain.empty() ? 0 : m_lines.Whole(plain, "msg_size", MAX_EVENT_BYTES));
        bytes = type == "barrier" ? Bytes(BARRIER) : bytes;
        const bool gathers =
            event.op == CollectiveOp::AllGather && m_options.gatherSize != GatherSize::Shard;
        (gathers || event.kind == TraceEventKind::Recv ? event.out : event.in) = bytes;
    }

    /** Parses milliseconds. */
    Time Elapsed(std::string_view text) const
    {
        const std::string plain = text == "None" ? "0" : std::string(text);
        char* end = nullptr;
        const double milliseconds = std::strtod(plain.c_str(), &end);
        constexpr double MAX_MILLISECONDS = 1e9;
        if (plain.empty() || *end != '\0' || !(milliseconds >= 0) ||
            milliseconds > MAX_MILLISECONDS)
        {
            m_lines.Fail("_elapsed_time", text, "milliseconds or None");
        }
        return Time::Milliseconds(milliseconds);
    }

    /**
     * Sets the strides of groups: ranks of a tensor group are adjacent; those of a pipeline group
     * are a stage's number of ranks apart; those of other groups are apart by the tensor group's
     * size.
     */
    void SetGroups()
    {
        const auto sizeOf = [&](const char* name) {
            const auto at = m_rank.groups.find(name);
            return at == m_rank.groups.end() ? 1U : std::max(1U, at->second.size);
        };
        const uint32_t tensor = sizeOf("tp_group");
        const uint32_t pipeline = sizeOf("pp_group");
        uint32_t ranks = m_options.ranks > 0 ? m_options.ranks : m_named > 1 ? m_named : 0;
        if (ranks == 0)
        {
            ranks = std::max(
                {2U, sizeOf("all"), sizeOf("all_nodes"), tensor * pipeline * sizeOf("dp_group")});
            m_file.remarks.push_back("the file does not say how many ranks there are: taken as " +
                                     std::to_string(ranks) + " (--ranks)");
        }
        m_rank.ranks = ranks;
        for (auto& [name, group] : m_rank.groups)
        {
            group.stride = group.size >= ranks || name == "tp_group" ? 1
                           : name == "pp_group" ? std::max(1U, ranks / pipeline)
                                                : tensor;
        }
    }

    TraceLines m_lines;
    const TraceOptions& m_options;
    std::map<std::string_view, std::size_t> m_columns; //!< index by name
    std::size_t m_columnCount{0};
    uint32_t m_named{0};                          //!< number of ranks in the first line; 0: none
    std::map<std::string, std::string> m_sizedAt; //!< by group: the line that first states its size
    TraceFile m_file;
    RankTrace m_rank;
};

} // namespace

bool
IsAicb(const std::string& bytes)
{
    constexpr std::size_t BEGINNING = 500; // bytes; a line of ranks may come first
    return bytes.substr(0, BEGINNING).find(AICB_COLUMNS) != std::string::npos;
}

TraceFile
ReadAicb(const TraceBytes& file, const TraceOptions& options)
{
    return AicbReader(file, options).Read();
}

} // namespace weir
