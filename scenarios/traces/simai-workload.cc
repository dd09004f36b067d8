// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/traces/simai-workload.h"

#include "scenarios/traces/collective-names.h"
#include "scenarios/traces/trace-lines.h"
#include "scenarios/workload/workload-file.h"

#include <array>
#include <map>

namespace weir
{

namespace
{

constexpr std::string_view BLANKS = " \t";
constexpr auto MAX_DEGREE = static_cast<int64_t>(MAX_WORKLOAD_RANKS);
constexpr int64_t MAX_NANOSECONDS = int64_t{1} << 48; //!< 3 days
constexpr std::size_t MAX_SIMAI_EVENTS = 4'000'000;   //!< of all passes of a rank

constexpr std::array<const char*, 11> POLICIES{"HYBRID_TRANSFORMER_FWD_IN_BCKWD",
                                               "HYBRID_TRANSFORMER",
                                               "DATA",
                                               "MODEL",
                                               "HYBRID_DATA_MODEL",
                                               "HYBRID_MODEL_DATA",
                                               "HYBRID_DLRM",
                                               "HYBRID_DLRM_ENHANCED",
                                               "DISTRIBUTED_INFERENCE",
                                               "MICRO",
                                               "HYBRID_CUSTOMIZED"};

/** A pass of a layer: forward, input gradient, weight gradient. */
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

/** Parses the text and plays its layers. */
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
        for (std::size_t i = 1; i + 1 < words.size(); i++)
        {
            if (words[i].back() != ':' && words[i] != "pp_comm")
            {
                continue; // a layer of a list of checkpoints
            }
            const std::string key(words[i].substr(0, words[i].find(':')));
            const bool isSize = key == "pp_comm";
            const bool isDegree = m_header.count(key) > 0;
            m_header[key] = m_lines.Whole(words[i + 1], key, isSize ? MAX_EVENT_BYTES : MAX_DEGREE);
            if (isDegree && m_header[key] == 0)
            {
                m_lines.Fail(key.c_str(), words[i + 1], "1 or more");
            }
            m_hasLongHeader = m_hasLongHeader || key == "all_gpus";
        }
    }

    void ReadLayers()
    {
        constexpr std::size_t COLUMNS = 12;
        if (!m_lines.Next() || m_lines.Fields(BLANKS).size() != 1)
        {
            m_lines.Fail("layers", m_lines.Line(), "their number alone on the second line");
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
                TraceEvent event;
                if (each.comm != "NONE" &&
                    (!SetCallByName(event, each.comm) || event.kind != TraceEventKind::Collective))
                {
                    m_lines.Fail(
                        "collective",
                        each.comm,
                        "NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL or BROADCAST");
                }
            }
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
        if (pipeline > 1)
        {
            m_file.remarks.push_back("pp " + std::to_string(pipeline) +
                                     ": every rank plays all layers, without transfers between "
                                     "stages, which the file does not place");
        }
        m_file.remarks.emplace_back("compute times are nanoseconds");
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

    /** @param blocks whether what follows waits for the collective */
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
        SetCallByName(call, pass.comm);
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
        const bool isAlone = m_rank.groups.at(call.group).size == 1;
        if (isAlone)
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
    bool m_hasLongHeader{false};
    std::vector<SimAiLayer> m_layers;
    std::vector<uint32_t> m_last; //!< what the next pass waits for
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
    return std::find(POLICIES.begin(), POLICIES.end(), word) != POLICIES.end();
}

TraceFile
ReadSimAi(const TraceBytes& file, const TraceOptions& options)
{
    return SimAiReader(file, options).Read();
}

} // namespace weir
