// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/simulation/collective-sweep.h"

#include "scenarios/bound/call-position.h"
#include "scenarios/simulation/row-time.h"
#include "scenarios/simulation/simulation.h"
#include "scenarios/yaml/input-error.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
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
                       MovesPackets(spec.fidelity) ? std::optional(spec.packets) : std::nullopt),
          m_planner(m_simulation.GetPlanner()),
          m_rows(m_simulation, spec.fidelity),
          m_positions(m_planner),
          m_communicator(m_planner.AddCommunicator(SweepGpus(spec)))
    {
        if (spec.program)
        {
            m_planner.AddProgram(*spec.program);
        }
    }

    CollectivePoint Run(Bytes size)
    {
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
                rate * BusBandwidthFactor(m_spec.op, ranks),
                PositionOf(call)};
    }

  private:
    /** Where its bound stands; nowhere when it has no closed form. */
    RegimePosition PositionOf(const CollectiveCall& call)
    {
        return m_spec.program ? RegimePosition()
                              : m_positions.Of(m_planner.Plan(call), m_spec.fidelity);
    }

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
    CallPositions m_positions;
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

bool
HaveBounds(const std::vector<CollectivePoint>& points)
{
    return std::any_of(
        points.begin(), points.end(), [](const auto& point) { return point.bound.has_value(); });
}

/** "-0.3 +1.2 %": where the reference lies, from the time given. */
std::string
BoundCell(const std::optional<ErrorBound>& bound)
{
    if (!bound || !bound->IsInside())
    {
        return bound ? "outside" : "";
    }
    return Print("%+.1f %+.1f %%", 100 * (bound->lower - 1), 100 * (bound->upper - 1));
}

/** What the column of bounds is, and what is outside of what was calibrated. */
std::string
BoundLines(const std::vector<CollectivePoint>& points)
{
    std::string text;
    std::vector<std::string> regions;
    for (const auto& point : points)
    {
        if (!point.bound)
        {
            continue;
        }
        if (text.empty())
        {
            text = "# Model bound          : " + CoverageText(point.bound->coverage) +
                   " of calls alike take as much more in fidelity " + point.bound->reference + "\n";
        }
        const std::string& region = point.bound->region;
        if (!point.bound->IsInside() &&
            std::find(regions.begin(), regions.end(), region) == regions.end())
        {
            regions.push_back(region);
        }
    }
    for (const std::string& region : regions)
    {
        text += "#   " + region + "\n";
    }
    return text;
}

/** The cells of a bound, each with its comma before it. */
std::string
BoundCells(const CollectivePoint& point)
{
    const ErrorBound& bound = *point.bound;
    const double time = point.time.ToMicroseconds();
    const std::string interval =
        bound.IsInside() ? Print("%.6f,%.6f", time * bound.lower, time * bound.upper) : ",";
    return "," + interval + Print(",%g,", bound.coverage) + bound.regime + "," + bound.region;
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

std::vector<CollectivePoint>
RunCollectiveSweep(const CollectiveSweepSpec& spec)
{
    try
    {
        CallRunner runner(spec);
        std::vector<CollectivePoint> points;
        for (const Bytes size : spec.sizes)
        {
            points.push_back(runner.Run(size));
        }
        return points;
    }
    catch (const std::invalid_argument& error)
    {
        throw InputError(error.what());
    }
    catch (const std::runtime_error& error)
    {
        throw InputError(error.what());
    }
}

void
AddBounds(const Calibration& calibration, double coverage, std::vector<CollectivePoint>& points)
{
    for (CollectivePoint& point : points)
    {
        point.bound = calibration.BoundOf(point.position, coverage);
    }
}

std::string
MeasuredLines(const CollectiveSweepSpec& spec,
              const MeasuredBounds& measured,
              double coverage,
              const std::vector<CollectivePoint>& points)
{
    std::string text;
    std::string last;
    for (const CollectivePoint& point : points)
    {
        const std::string name = MeasuredClassOf(point.size, spec.cluster.nodes == 1);
        const auto bound = name == last ? std::nullopt : measured.Find(name, coverage);
        last = name;
        if (bound)
        {
            text += "# Measured " + name + ", of unseen clusters: " + ToText(*bound) + "\n";
        }
    }
    return text;
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
        "#wrong       algo  proto  nch";
    text += HaveBounds(points) ? "        bound\n" : "\n";
    text += "#         (B)    (elements)                              (us)   (GB/s)   (GB/s)\n";
    double sum = 0;
    for (const auto& point : points)
    {
        text += Print("%13lld  %12lld   float  %5s  %5s  %10.2f  %7.2f  %7.2f    N/A %10s %6s %4u",
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
        text += Print(point.bound ? "  %15s\n" : "%s\n", BoundCell(point.bound).c_str());
        sum += point.busBandwidth.ToGBps();
    }
    return text + BoundLines(points) +
           Print("# Avg bus bandwidth    : %g\n",
                 points.empty() ? 0 : sum / static_cast<double>(points.size()));
}

std::string
ToCsv(const CollectiveSweepSpec& spec, const std::vector<CollectivePoint>& points)
{
    const bool haveBounds = HaveBounds(points);
    std::string text = "collective,size_bytes,time_us,algbw_GBps,busbw_GBps";
    text += haveBounds ? ",lower_us,upper_us,coverage,regime,region\n" : "\n";
    for (const auto& point : points)
    {
        text += Print("%s,%lld,%.6f,%.6g,%.6g",
                      ToString(spec.op),
                      static_cast<long long>(point.size.Count()),
                      point.time.ToMicroseconds(),
                      point.algorithmBandwidth.ToGBps(),
                      point.busBandwidth.ToGBps());
        text += (point.bound ? BoundCells(point) : "") + "\n";
    }
    return text;
}

} // namespace weir
