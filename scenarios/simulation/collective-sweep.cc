// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/simulation/collective-sweep.h"

#include "scenarios/results/busy-link-json.h"
#include "scenarios/results/hdf5-table.h"
#include "scenarios/simulation/row-time.h"
#include "scenarios/simulation/run-recording.h"
#include "scenarios/simulation/simulation.h"
#include "scenarios/yaml/input-error.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <memory>
#include <stdexcept>

namespace weir
{

namespace
{

/** The calls of one size after the other on one cluster. */
class CallRunner
{
  public:
    explicit CallRunner(const CollectiveSweepSpec& spec)
        : m_spec(spec),
          m_costs(spec.cluster.node),
          m_simulation(spec.cluster,
                       SettingsOf(spec),
                       FormOf(spec.fidelity) == FlowForm::Packets ? std::optional(spec.packets)
                                                                  : std::nullopt),
          m_planner(m_simulation.GetPlanner()),
          m_rows(m_simulation, spec.fidelity),
          m_communicator(m_planner.AddCommunicator(SweepGpus(spec)))
    {
        if (spec.program)
        {
            m_planner.AddProgram(*spec.program);
        }
    }

    Simulation& GetSimulation()
    {
        return m_simulation;
    }

    CollectivePoint Run(Bytes size)
    {
        m_simulation.BeginTraffic("collective",
                                  std::string(ToString(m_spec.op)) + " " +
                                      std::to_string(size.Count()) + " B");
        CollectiveCall call;
        call.communicator = m_communicator;
        call.op = m_spec.op;
        call.bytes = size;
        call.overrides = m_spec.overrides;
        const Choice choice = ChoiceOf(call);
        const Time time =
            std::max(m_rows.PerCall(call, CALLS),
                     LaunchTime(m_costs, m_spec.launch, m_spec.gpusPerNode)) +
            BlockLaunchTime(
                m_costs, m_spec.launch, NcclVersion::Parse(m_spec.ncclVersion), choice.blocks) +
            IdleLaunchTime(m_costs, m_spec.launch);
        const double seconds = time.ToSeconds();
        const Rate rate = Rate::BytesPerSecond(seconds > 0 ? size.ToDouble() / seconds : 0);
        const auto ranks = m_planner.GetCommunicator(m_communicator).Size();
        return {size,
                time,
                choice.algorithm,
                choice.protocol,
                choice.channels,
                rate,
                rate * BusBandwidthFactor(m_spec.op, ranks)};
    }

  private:
    /** How a call is run. */
    struct Choice
    {
        Algorithm algorithm;
        Protocol protocol;
        uint32_t channels;
        uint32_t blocks; //!< of a rank's kernel
    };

    Choice ChoiceOf(CollectiveCall& call)
    {
        if (m_spec.program)
        {
            call.overrides.algorithm = Algorithm::Imported;
            const Schedule& schedule = m_planner.GetSchedule(call);
            const uint32_t channels = m_spec.program->channels;
            return {schedule.algorithm, schedule.protocol, channels, channels};
        }
        const CollectivePlan& plan = m_planner.Plan(call);
        return {plan.algorithm, plan.protocol, plan.channels, plan.blocks};
    }

    static constexpr uint32_t CALLS = 20; //!< in a row, nccl-tests' default

    const CollectiveSweepSpec& m_spec;
    NodeCosts m_costs;
    Simulation m_simulation;
    Planner& m_planner;
    RowTimer m_rows;
    CommunicatorId m_communicator;
};

__attribute__((format(printf, 1, 2))) std::string
Print(const char* format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return text;
}

/** nccl-tests' `count`: elements of 4 bytes, per rank where the size counts all ranks. */
int64_t
ElementCount(CollectiveOp op, Bytes size, std::size_t ranks)
{
    const bool perRank = op == CollectiveOp::AllGather || op == CollectiveOp::ReduceScatter ||
                         op == CollectiveOp::AllToAll || op == CollectiveOp::Gather ||
                         op == CollectiveOp::Scatter;
    return size.Count() / 4 / static_cast<int64_t>(perRank ? ranks : 1);
}

} // namespace

NcclSettings
SettingsOf(const CollectiveSweepSpec& spec)
{
    NcclSettings settings(spec.ncclVersion);
    settings.launch = spec.launch;
    settings.queuePairs = spec.queuePairs;
    settings.channelLimits = spec.channelLimits;
    settings.tuner = spec.tuner;
    return settings;
}

std::vector<GpuId>
SweepGpus(const CollectiveSweepSpec& spec)
{
    std::vector<GpuId> gpus;
    for (uint32_t node = 0; node < spec.cluster.nodes; node++)
    {
        for (uint32_t local = 0; local < spec.gpusPerNode; local++)
        {
            gpus.emplace_back(node * spec.cluster.node.gpus + local);
        }
    }
    if (spec.op == CollectiveOp::Send && gpus.size() > 2)
    {
        return {gpus.front(), gpus.back()};
    }
    return gpus;
}

namespace
{

/** What @p run gives; what it finds wrong with the values of a sweep becomes an InputError. */
template <typename Run>
auto
Refusing(const Run& run)
{
    try
    {
        return run();
    }
    catch (const std::invalid_argument& error)
    {
        throw InputError(error.what());
    }
    catch (const std::length_error& error)
    {
        throw InputError(error.what());
    }
    catch (const std::runtime_error& error)
    {
        throw InputError(error.what());
    }
}

std::vector<CollectivePoint>
RunAllSizes(CallRunner& runner, const CollectiveSweepSpec& spec)
{
    std::vector<CollectivePoint> points;
    for (const Bytes size : spec.sizes)
    {
        points.push_back(runner.Run(size));
    }
    return points;
}

/** /bandwidth: a row a size, with the columns of the CSV. */
void
WriteBandwidth(Hdf5File& file,
               const CollectiveSweepSpec& spec,
               const std::vector<CollectivePoint>& points)
{
    Hdf5Table table(file, "/bandwidth", "row");
    auto& op = table.Add<std::string>({"collective", "", "operation", ""});
    auto& size = table.Add<int64_t>({"size_bytes", "B", "size as nccl-tests counts it", ""});
    auto& time = table.Add<double>({"time_us", "us", "time of a call", ""});
    auto& algorithmic = table.Add<double>({"algbw_GBps", "GB s-1", "size over time", ""});
    auto& bus = table.Add<double>({"busbw_GBps", "GB s-1", "bus bandwidth", ""});
    auto& algorithm = table.Add<std::string>({"algorithm", "", "algorithm", ""});
    auto& protocol = table.Add<std::string>({"protocol", "", "protocol", ""});
    auto& channels = table.Add<uint32_t>({"channels", "1", "channels used", ""});
    for (const auto& point : points)
    {
        op.Append(ToString(spec.op));
        size.Append(point.size.Count());
        time.Append(point.time.ToMicroseconds());
        algorithmic.Append(point.algorithmBandwidth.ToGBps());
        bus.Append(point.busBandwidth.ToGBps());
        algorithm.Append(ToString(point.algorithm));
        protocol.Append(ToString(point.protocol));
        channels.Append(point.channels);
    }
    table.Finish();
}

} // namespace

std::vector<CollectivePoint>
RunCollectiveSweep(const CollectiveSweepSpec& spec)
{
    return Refusing([&] {
        CallRunner runner(spec);
        return RunAllSizes(runner, spec);
    });
}

CollectiveSweepResult
RecordCollectiveSweep(const CollectiveSweepSpec& spec, RunRecording& recording)
{
    const auto runner = Refusing([&] { return std::make_unique<CallRunner>(spec); });
    recording.Begin(runner->GetSimulation());
    const auto points = Refusing([&] { return RunAllSizes(*runner, spec); });
    RunResult result =
        recording.Finish([&](Hdf5File& file) { WriteBandwidth(file, spec, points); });
    return {points, std::move(result)};
}

std::string
ToJson(const CollectiveSweepSpec& spec, const CollectiveSweepResult& result)
{
    nlohmann::ordered_json object = {{"collective", ToString(spec.op)},
                                     {"system", spec.cluster.name},
                                     {"nodes", spec.cluster.nodes},
                                     {"ranks", SweepGpus(spec).size()},
                                     {"nccl_version", spec.ncclVersion},
                                     {"fidelity", ToString(spec.fidelity)}};
    object["points"] = nlohmann::ordered_json::array();
    for (const auto& point : result.points)
    {
        object["points"].push_back({{"size_bytes", point.size.Count()},
                                    {"time_us", point.time.ToMicroseconds()},
                                    {"algbw_GBps", point.algorithmBandwidth.ToGBps()},
                                    {"busbw_GBps", point.busBandwidth.ToGBps()},
                                    {"algorithm", ToString(point.algorithm)},
                                    {"protocol", ToString(point.protocol)},
                                    {"channels", point.channels}});
    }
    AddBusiestLinks(object, result.result);
    return object.dump(2);
}

std::string
ToNcclTestsTable(const CollectiveSweepSpec& spec, const std::vector<CollectivePoint>& points)
{
    const std::size_t ranks = SweepGpus(spec).size();
    const bool reduces = spec.op == CollectiveOp::AllReduce ||
                         spec.op == CollectiveOp::ReduceScatter || spec.op == CollectiveOp::Reduce;
    const bool rooted = spec.op == CollectiveOp::Broadcast || spec.op == CollectiveOp::Reduce ||
                        spec.op == CollectiveOp::Gather || spec.op == CollectiveOp::Scatter;
    std::string text = "# " + std::string(ToString(spec.op)) + ", " + std::to_string(ranks) +
                       " ranks, " + std::to_string(spec.cluster.nodes) + " nodes of " +
                       spec.cluster.name + ", NCCL " + spec.ncclVersion + ", fidelity " +
                       ToString(spec.fidelity) + "\n#\n";
    text +=
        "#        size         count    type  redop   root        time    algbw    busbw "
        "#wrong       algo  proto  nch\n";
    text += "#         (B)    (elements)                              (us)   (GB/s)   (GB/s)\n";
    double sum = 0;
    for (const auto& point : points)
    {
        text +=
            Print("%13lld  %12lld   float  %5s  %5s  %10.2f  %7.2f  %7.2f    N/A %10s %6s %4u\n",
                  static_cast<long long>(point.size.Count()),
                  static_cast<long long>(ElementCount(spec.op, point.size, ranks)),
                  reduces ? "sum" : "none",
                  rooted ? "0" : "-1",
                  point.time.ToMicroseconds(),
                  point.algorithmBandwidth.ToGBps(),
                  point.busBandwidth.ToGBps(),
                  ToString(point.algorithm),
                  ToString(point.protocol),
                  point.channels);
        sum += point.busBandwidth.ToGBps();
    }
    return text + Print("# Avg bus bandwidth    : %g\n",
                        points.empty() ? 0 : sum / static_cast<double>(points.size()));
}

std::string
ToCsv(const CollectiveSweepSpec& spec, const std::vector<CollectivePoint>& points)
{
    std::string text = "collective,size_bytes,time_us,algbw_GBps,busbw_GBps\n";
    for (const auto& point : points)
    {
        text += Print("%s,%lld,%.6f,%.6g,%.6g\n",
                      ToString(spec.op),
                      static_cast<long long>(point.size.Count()),
                      point.time.ToMicroseconds(),
                      point.algorithmBandwidth.ToGBps(),
                      point.busBandwidth.ToGBps());
    }
    return text;
}

} // namespace weir
