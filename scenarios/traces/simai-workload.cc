// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/traces/trace-formats.h"

#include "scenarios/traces/trace-lines.h"
#include "scenarios/workload/workload-file.h"
#include "scenarios/yaml/names.h"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace weir
{

namespace
{

constexpr std::string_view BLANKS = " \t";
constexpr auto MAX_DEGREE = static_cast<int64_t>(MAX_WORKLOAD_RANKS);
constexpr int64_t MAX_NANOSECONDS = int64_t{1} << 48; //!< about 3 days
constexpr std::size_t MAX_SIMAI_EVENTS = 4'000'000;   //!< over all passes of a rank

constexpr std::array<std::pair<const char*, CollectiveOp>, 5> COLLECTIVES{
    {{"ALLREDUCE", CollectiveOp::AllReduce},
     {"ALLGATHER", CollectiveOp::AllGather},
     {"REDUCESCATTER", CollectiveOp::ReduceScatter},
     {"ALLTOALL", CollectiveOp::AllToAll},
     {"BROADCAST", CollectiveOp::Broadcast}}};

constexpr std::array<const char*, 2> CHECKPOINTS{"checkpoints", "checkpoint_initiates"};

const std::vector<std::string>&
HeaderKeys()
{
    static const std::vector<std::string> KEYS = SplitText(
        "model_parallel_NPU_group ep pp vpp ga all_gpus checkpoints checkpoint_initiates pp_comm",
        ' ');
    return KEYS;
}

/** The operation of "ALLREDUCE", "ALLTOALL_EP" or "ALLGATHER_DP_EP"; nothing for other words. */
std::optional<CollectiveOp>
OpOf(std::string_view word)
{
    for (const auto& [name, op] : COLLECTIVES)
    {
        const std::string plain = name;
        if (word == plain || word == plain + "_EP" || word == plain + "_DP_EP")
        {
            return op;
        }
    }
    return std::nullopt;
}

/** One pass of a layer: forward, input gradient or weight gradient. */
struct SimAiPass
{
    Time compute;
    std::string comm;
    Bytes bytes;
};

struct SimAiLayer
{
    std::string id;
    std::string name;
    std::array<SimAiPass, 3> passes;
};

class SimAiReader
{
  public:
    SimAiReader(const TraceBytes& file, const TraceOptions& options)
        : m_lines(file.bytes, file.name),
          m_options(options)
    {
        m_file.path = file.name;
        m_rank.file = file.name;
    }

    TraceFile Read()
    {
        ReadHeader();
        ReadLayers();
        SetGroups();
        if (m_policy == "MICRO")
        {
            for (const SimAiLayer& layer : m_layers)
            {
                for (std::size_t pass = 0; pass < layer.passes.size(); pass++)
                {
                    Play(layer, pass, true);
                }
            }
        }
        for (int64_t i = 0; m_policy != "MICRO" && i < m_header["ga"]; i++)
        {
            PlayMicroBatch();
        }
        m_file.dialect = "SimAI workload text (" + m_policy +
                         (m_policy == "MICRO" ? ""
                          : m_hasLongHeader   ? ", full header"
                                              : ", short header") +
                         ")";
        m_file.nodes = m_layers.size();
        m_rank.isOrdered = true;
        m_file.ranks.push_back(std::move(m_rank));
        return std::move(m_file);
    }

  private:
    void ReadHeader()
    {
        while (m_lines.Next() && m_lines.Fields(BLANKS).empty())
        {
        }
        const auto words = m_lines.Fields(BLANKS);
        m_policy = words.empty() ? "" : std::string(words.front());
        m_header = {{"model_parallel_NPU_group", 1}, {"ep", 1}, {"pp", 1}, {"ga", 1}};
        std::size_t at = 1;
        const bool isDlrm = m_policy.rfind("HYBRID_DLRM", 0) == 0;
        if (isDlrm && words.size() > 1 && words[1].back() != ':')
        {
            m_lines.Whole(words[1], "last bottom layer", MAX_DEGREE);
            m_file.remarks.emplace_back("the last bottom layer of the header is not played");
            at++;
        }
        while (at < words.size())
        {
            at = ReadKey(words, at);
        }
    }

    /** Reads one key with its value. @return index of the next key */
    std::size_t ReadKey(const std::vector<std::string_view>& words, std::size_t at)
    {
        const std::string word(words[at]);
        const bool hasColon = word.back() == ':';
        const std::string key = hasColon ? word.substr(0, word.size() - 1) : word;
        const std::vector<std::string>& keys = HeaderKeys();
        const bool isSize = key == "pp_comm";
        const bool isKnown = IsAmong(key, keys);
        if (!isKnown || (!hasColon && !isSize))
        {
            m_lines.Fail("header",
                         word,
                         "one of: " + JoinNames(keys) + ", each with ': ' and its value" +
                             (isKnown ? "" : DidYouMean(key, keys)));
        }
        const bool isDegree =
            (m_header.count(key) > 0 && m_given.count(key) == 0) || key == "all_gpus";
        if (!m_given.insert(key).second)
        {
            m_lines.Fail("header", word, "each key once");
        }
        const std::string_view value = at + 1 < words.size() ? words[at + 1] : std::string_view();
        m_header[key] = m_lines.Whole(value, key, isSize ? MAX_EVENT_BYTES : MAX_DEGREE);
        if (isDegree && m_header[key] == 0)
        {
            m_lines.Fail(key, value, "1 or more");
        }
        m_hasLongHeader = m_hasLongHeader || key == "all_gpus";
        at += 2;
        const bool isList =
            std::find(CHECKPOINTS.begin(), CHECKPOINTS.end(), key) != CHECKPOINTS.end();
        for (int64_t i = 0; isList && i < m_header[key]; i++)
        {
            m_lines.Whole(at < words.size() ? words[at] : std::string_view(), key, MAX_EVENT_BYTES);
            at++;
        }
        return at;
    }

    void RemarkOnUnplayed()
    {
        for (const auto& [key, unplayed] :
             {std::pair("vpp", "stages are not divided: every rank plays all layers"),
              std::pair("pp_comm", "transfers of this many bytes between stages are not played"),
              std::pair(CHECKPOINTS[0], "recomputed layers are not played again"),
              std::pair(CHECKPOINTS[1], "recomputations that begin there are not played")})
        {
            const int64_t min = std::string(key) == "vpp" ? 1 : 0;
            if (m_given.count(key) > 0 && m_header[key] > min)
            {
                m_file.remarks.push_back(std::string(key) + " " + std::to_string(m_header[key]) +
                                         ": " + unplayed);
            }
        }
        if (m_hasPolicies)
        {
            m_file.remarks.emplace_back(
                "layer policies are ignored: the columns of collectives determine their groups");
        }
        m_file.remarks.emplace_back("weight updates (the last column of times) are not played");
    }

    void ReadLayers()
    {
        constexpr std::size_t COLUMNS = 12;
        if (!m_lines.Next() || m_lines.Fields(BLANKS).size() != 1)
        {
            m_lines.Fail("layers", m_lines.Line(), "only their number on the second line");
        }
        const int64_t count =
            m_lines.Whole(m_lines.Fields(BLANKS).front(), "layers", MAX_EVENT_BYTES);
        while (m_lines.Next())
        {
            const auto fields = m_lines.Fields(BLANKS);
            if (fields.empty())
            {
                continue;
            }
            if (fields.size() < COLUMNS || fields.size() > COLUMNS + 1)
            {
                m_lines.Fail("layer",
                             m_lines.Line(),
                             "12 columns (13 with a policy), not " + std::to_string(fields.size()));
            }
            SimAiLayer layer;
            layer.id = m_lines.Id();
            layer.name = fields[0];
            for (std::size_t pass = 0; pass < layer.passes.size(); pass++)
            {
                SimAiPass& each = layer.passes[pass];
                const std::size_t column = 2 + 3 * pass;
                each.compute = Time::Nanoseconds(static_cast<double>(
                    m_lines.Whole(fields[column], "compute time", MAX_NANOSECONDS)));
                each.comm = fields[column + 1];
                each.bytes = Bytes(m_lines.Whole(fields[column + 2], "bytes", MAX_EVENT_BYTES));
                if (each.comm != "NONE" && !OpOf(each.comm))
                {
                    m_lines.Fail("collective",
                                 each.comm,
                                 "NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL or "
                                 "BROADCAST, optionally with _EP or _DP_EP");
                }
            }
            m_lines.Whole(fields[COLUMNS - 1], "update time", MAX_NANOSECONDS);
            m_hasPolicies = m_hasPolicies || fields.size() > COLUMNS;
            m_layers.push_back(std::move(layer));
        }
        if (m_layers.size() != static_cast<std::size_t>(count))
        {
            m_lines.Fail("layers",
                         std::to_string(m_layers.size()) + " rows",
                         std::to_string(count) + ", as the second line says");
        }
        const double events = 6.0 * static_cast<double>(m_layers.size()) *
                              static_cast<double>(std::max<int64_t>(1, m_header["ga"]));
        if (events > MAX_SIMAI_EVENTS)
        {
            m_lines.Fail("ga", std::to_string(m_header["ga"]), "fewer micro-batches");
        }
    }

    void SetGroups()
    {
        const auto tensor =
            static_cast<uint32_t>(std::max<int64_t>(1, m_header["model_parallel_NPU_group"]));
        const auto expert = static_cast<uint32_t>(std::max<int64_t>(1, m_header["ep"]));
        const auto pipeline = static_cast<uint32_t>(std::max<int64_t>(1, m_header["pp"]));
        const auto all = static_cast<uint32_t>(m_header["all_gpus"]);
        m_rank.ranks = m_options.ranks > 0 ? m_options.ranks : all;
        if (m_rank.ranks == 0)
        {
            m_rank.ranks = std::max<uint32_t>(2, tensor * expert * pipeline);
            m_file.remarks.push_back("the header has no all_gpus: taken as " +
                                     std::to_string(m_rank.ranks) + " ranks (--ranks)");
        }
        const uint32_t data = std::max(1U, m_rank.ranks / std::max(1U, tensor * pipeline));
        m_rank.groups["TP"] = {{}, tensor, 1};
        m_rank.groups["DP"] = {{}, data, tensor};
        m_rank.groups["EP"] = {{}, expert, tensor};
        m_rank.groups["DP_EP"] = {{}, std::max(1U, data / expert), tensor * expert};
        if (m_policy == "MICRO")
        {
            m_rank.groups["DP"] = {};
            m_rank.groups["TP"] = {};
        }
        else if (m_given.count("model_parallel_NPU_group") == 0)
        {
            SetGroupsOfPolicy();
        }
        if (pipeline > 1)
        {
            m_file.remarks.push_back("pp " + std::to_string(pipeline) +
                                     ": every rank plays all layers, without transfers between "
                                     "stages, whose positions the file does not give");
        }
        m_file.remarks.emplace_back("compute times are nanoseconds");
        RemarkOnUnplayed();
    }

    /**
     * Sets the groups of a header without degrees, as ASTRA-sim 1.0 writes it: model parallelism
     * and the embeddings of DLRM use all ranks.
     * @throws InputError where the policy divides the ranks, but the file does not say how.
     */
    void SetGroupsOfPolicy()
    {
        const bool isModel = m_policy == "MODEL" || m_policy == "DISTRIBUTED_INFERENCE";
        if (isModel || m_policy.rfind("HYBRID_DLRM", 0) == 0)
        {
            m_rank.groups["TP"] = {};
            if (isModel)
            {
                m_rank.groups["DP"].size = 1;
            }
            return;
        }
        for (const SimAiLayer& layer : m_layers)
        {
            for (std::size_t pass = 0; pass < 2 && m_policy != "DATA"; pass++)
            {
                const std::string& comm = layer.passes[pass].comm;
                if (comm != "NONE" && comm.find("_EP") == std::string::npos)
                {
                    throw InputError(m_file.path + ": " + layer.id + ": found " + comm +
                                     " of a tensor group, expected its size, "
                                     "model_parallel_NPU_group, in the header of " +
                                     m_policy);
                }
            }
        }
    }

    void PlayMicroBatch()
    {
        for (const SimAiLayer& layer : m_layers)
        {
            Play(layer, 0, true);
        }
        for (auto layer = m_layers.rbegin(); layer != m_layers.rend(); ++layer)
        {
            Play(*layer, 2, false);
            Play(*layer, 1, true);
        }
    }

    /** Adds the events of one pass. @param blocks whether later passes wait for the collective */
    void Play(const SimAiLayer& layer, std::size_t index, bool blocks)
    {
        static constexpr std::array<const char*, 3> NAMES{
            "forward", "input gradient", "weight gradient"};
        const SimAiPass& pass = layer.passes[index];
        TraceEvent compute;
        compute.kind = TraceEventKind::Compute;
        compute.id = layer.id;
        compute.name = layer.name + ", " + NAMES[index];
        compute.stream = 0;
        compute.duration = pass.compute;
        compute.after = m_last;
        if (pass.compute > Time() || pass.comm != "NONE")
        {
            m_last = {static_cast<uint32_t>(m_rank.events.size())};
            m_rank.events.push_back(compute);
            m_file.kernels++;
        }
        if (pass.comm == "NONE")
        {
            return;
        }
        const bool isOfReplicas = pass.comm.find("_DP_EP") != std::string::npos;
        const bool isOfExperts = pass.comm.find("_EP") != std::string::npos;
        TraceEvent call;
        call.kind = TraceEventKind::Collective;
        call.op = *OpOf(pass.comm);
        call.id = layer.id;
        call.name = layer.name + ", " + NAMES[index] + ", " + ToString(call.op);
        call.group = isOfReplicas ? "DP_EP" : isOfExperts ? "EP" : index == 2 ? "DP" : "TP";
        call.category = isOfReplicas || call.group == "DP" ? TimeCategory::Data
                        : isOfExperts                      ? TimeCategory::Expert
                                                           : TimeCategory::Tensor;
        const bool givesShard =
            call.op == CollectiveOp::AllGather && m_options.gatherSize == GatherSize::Shard;
        (call.op == CollectiveOp::AllGather && !givesShard ? call.out : call.in) = pass.bytes;
        call.after = m_last;
        const auto at = static_cast<uint32_t>(m_rank.events.size());
        const bool isSingle = m_rank.groups.at(call.group).size == 1;
        if (isSingle)
        {
            m_file.dropped["collective of a single rank"]++;
            return;
        }
        if (blocks)
        {
            m_last = {at};
        }
        m_rank.events.push_back(std::move(call));
    }

    TraceLines m_lines;
    const TraceOptions& m_options;
    TraceFile m_file;
    RankTrace m_rank;
    std::string m_policy;
    std::map<std::string, int64_t> m_header;
    std::set<std::string> m_given; //!< keys present in the header
    bool m_hasLongHeader{false};
    bool m_hasPolicies{false}; //!< layers have a policy each
    std::vector<SimAiLayer> m_layers;
    std::vector<uint32_t> m_last; //!< events that the next pass waits for
};

} // namespace

bool
IsSimAi(const std::string& bytes)
{
    const std::size_t begin = bytes.find_first_not_of(" \t\r\n");
    if (begin == std::string::npos)
    {
        return false;
    }
    const std::size_t end = std::min(bytes.find_first_of(" \t\r\n", begin), bytes.size());
    const std::string word = bytes.substr(begin, std::min<std::size_t>(end - begin, 100));
    const std::vector<std::string> policies = SplitText(
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD HYBRID_TRANSFORMER DATA MODEL HYBRID_DATA_MODEL "
        "HYBRID_MODEL_DATA HYBRID_DLRM HYBRID_DLRM_ENHANCED DISTRIBUTED_INFERENCE MICRO "
        "HYBRID_CUSTOMIZED",
        ' ');
    return IsAmong(word, policies);
}

TraceFile
ReadSimAi(const TraceBytes& file, const TraceOptions& options)
{
    return SimAiReader(file, options).Read();
}

} // namespace weir
