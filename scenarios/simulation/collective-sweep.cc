// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/simulation/collective-sweep.h"

#include "collectives/algorithms/dimension-wise/dimension-phases.h"
#include "scenarios/bound/call-position.h"
#include "scenarios/results/hdf5-table.h"
#include "scenarios/results/link-series.h"
#include "scenarios/results/run-json.h"
#include "scenarios/results/text-table.h"
#include "scenarios/simulation/back-to-back-time.h"
#include "scenarios/simulation/run-recording.h"
#include "scenarios/simulation/simulation.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/quantity.h"

#include <algorithm>
#include <memory>
#include <stdexcept>

namespace weir
{

namespace
{

/** Runs one size after another on one cluster. */
class CallRunner
{
  public:
    explicit CallRunner(const CollectiveSweepSpec& spec)
        : m_spec(spec),
          m_costs(spec.cluster.node),
          m_simulation(
              spec.cluster,
              SettingsOf(spec),
              TransportOf(
                  spec.fidelity, spec.packets, spec.coupling, spec.sharing, spec.corrections)),
          m_planner(m_simulation.GetPlanner()),
          m_positions(m_planner),
          m_communicator(m_planner.AddCommunicator(SweepGpus(spec)))
    {
        CheckDimensions();
        if (spec.program)
        {
            m_planner.AddProgram(*spec.program);
        }
        if (spec.fidelity == Fidelity::Auto)
        {
            m_judge.emplace(m_planner, spec.automatic);
        }
        if (MovesChunks(spec.fidelity))
        {
            m_planner.UseClosedForms();
        }
        const bool plays = spec.fidelity == Fidelity::Flow || spec.fidelity == Fidelity::Auto;
        if (plays && spec.onlyTimes && !spec.corrections.IsOn() &&
            m_simulation.GetRouting().Policy().IsFixed())
        {
            m_simulation.GetFlowEngine(Fidelity::Flow).FoldCalls();
        }
    }

    Simulation& GetSimulation()
    {
        return m_simulation;
    }

    /**
     * @throws InputError when a series of @p width would have too many bins, with one call per
     *         size.
     */
    void ExpectFit(Time width)
    {
        double bins = 0;
        for (const Bytes size : m_spec.sizes)
        {
            const CollectivePlan& plan =
                m_planner.Plan(CallOf(m_spec, m_planner, m_communicator, size));
            const bool isCounted = FidelityOf(plan) != Fidelity::Analytical;
            bins += isCounted ? MinLinkBins(plan, m_simulation.GetRouting(), width) : 0;
        }
        LinkSeries::ExpectFit(bins, width);
    }

    CollectivePoint Run(Bytes size)
    {
        m_simulation.BeginTraffic("collective",
                                  std::string(ToString(m_spec.op)) + " " +
                                      std::to_string(size.Count()) + " B");
        const CollectiveCall call = CallOf(m_spec, m_planner, m_communicator, size);
        const CollectivePlan& plan = m_planner.Plan(call);
        const Fidelity fidelity = FidelityOf(plan);
        const Time time =
            std::max(BackToBackTime(m_simulation, fidelity, call, BENCHMARK_CALLS),
                     LaunchTime(m_costs, m_spec.nccl.launch, m_spec.gpusPerNode)) +
            BlockLaunchTime(
                m_costs, m_spec.nccl.launch, NcclVersion::Parse(m_spec.nccl.version), plan.blocks) +
            IdleLaunchTime(m_costs, m_spec.nccl.launch);
        const double seconds = time.ToSeconds();
        const Rate rate = Rate::BytesPerSecond(seconds > 0 ? size.ToDouble() / seconds : 0);
        const auto ranks = m_planner.GetGroup(m_communicator).Size();
        return {size,
                time,
                plan.algorithm,
                plan.protocol,
                plan.channels,
                rate,
                rate * BusBandwidthFactor(m_spec.op, ranks),
                PositionOf(plan, fidelity),
                std::nullopt,
                fidelity};
    }

  private:
    /**
     * The fidelity of the sweep; for auto, the fastest one within the tolerance for an uncontended
     * call.
     */
    Fidelity FidelityOf(const CollectivePlan& plan)
    {
        if (m_spec.fidelity != Fidelity::Auto)
        {
            return m_spec.fidelity;
        }
        for (const Fidelity shortcut : {Fidelity::Analytical, Fidelity::Stream})
        {
            if (m_judge->IsGoodEnough(plan, shortcut))
            {
                return shortcut;
            }
        }
        return Fidelity::Flow;
    }

    /** The position of the plan in the regimes of its bound. */
    RegimePosition PositionOf(const CollectivePlan& plan, Fidelity fidelity) const
    {
        RegimePosition position = m_positions.Of(plan, fidelity);
        if (position.unsampled.empty())
        {
            position.unsampled = m_spec.sharing.tolerance > 0 ? "sharing.tolerance"
                                 : m_spec.corrections.IsOn()  ? "corrections"
                                                              : "";
        }
        return position;
    }

    /**
     * @throws std::invalid_argument when more algorithms are given than the GPUs have dimensions.
     */
    void CheckDimensions()
    {
        const DimensionWiseSettings& settings = m_spec.nccl.dimensionWise;
        const std::size_t given = settings.algorithms.size();
        if (given == 0)
        {
            return;
        }
        const std::size_t there =
            GridOf(m_planner.GetGroup(m_communicator), m_simulation.GetCluster(), settings)
                .dimensions.size();
        if (given > there)
        {
            throw std::invalid_argument("found algorithms for " + std::to_string(given) +
                                        " dimensions, expected at most " + std::to_string(there) +
                                        ", the dimensions of these GPUs");
        }
    }

    const CollectiveSweepSpec& m_spec;
    NodeCosts m_costs;
    Simulation m_simulation;
    Planner& m_planner;
    CallPositions m_positions;
    CommunicatorId m_communicator;
    std::optional<BoundJudge> m_judge; //!< for fidelity auto
};

/** nccl-tests' `count`: elements of 4 bytes; per rank where the size counts all ranks. */
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

/** "-0.3 +1.2 %": the interval of the reference time relative to the point's time. */
std::string
BoundCell(const std::optional<ErrorBound>& bound)
{
    if (!bound || !bound->IsInside())
    {
        return bound ? "outside" : "";
    }
    return FormatText("%+.1f %+.1f %%", 100 * (bound->lower - 1), 100 * (bound->upper - 1));
}

/**
 * Comment lines that explain the bound column and list the points outside the calibrated region.
 */
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
                   " of similar calls take this much longer in fidelity " + point.bound->reference +
                   "\n";
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

/** The CSV cells of a bound, each with a leading comma. */
std::string
BoundCells(const CollectivePoint& point)
{
    const ErrorBound& bound = *point.bound;
    const double time = point.time.ToMicroseconds();
    const std::string interval =
        bound.IsInside() ? FormatText("%.6f,%.6f", time * bound.lower, time * bound.upper) : ",";
    return "," + interval + FormatText(",%g,", bound.coverage) + bound.regime + "," + bound.region;
}

} // namespace

NcclSettings
SettingsOf(const CollectiveSweepSpec& spec)
{
    NcclSettings settings = spec.nccl;
    settings.channelLimits.min =
        std::max(settings.channelLimits.min, spec.overrides.channels.value_or(1));
    return settings;
}

CollectiveCall
CallOf(const CollectiveSweepSpec& spec, Planner& planner, CommunicatorId communicator, Bytes size)
{
    CollectiveCall call;
    call.communicator = communicator;
    call.op = spec.op;
    call.bytes = size;
    call.overrides = spec.overrides;
    if (spec.program)
    {
        call.overrides.algorithm = Algorithm::Imported;
        call.root = spec.program->root;
    }
    if (!spec.counts.empty())
    {
        call.traffic = planner.AddTraffic(spec.counts);
    }
    return call;
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

std::vector<CollectivePoint>
RunAllSizes(CallRunner& runner, const CollectiveSweepSpec& spec, const SweepProgress& progress)
{
    std::vector<CollectivePoint> points;
    for (const Bytes size : spec.sizes)
    {
        if (progress && !progress(points.size(), spec.sizes.size()))
        {
            break;
        }
        points.push_back(runner.Run(size));
    }
    return points;
}

/** Writes /bandwidth: one row per size with the columns of the CSV. */
void
WriteBandwidth(Hdf5File& file,
               const CollectiveSweepSpec& spec,
               const std::vector<CollectivePoint>& points)
{
    using Point = CollectivePoint;
    Hdf5RowTable<Point> table(file, "/bandwidth", "row");
    table.Add({"collective", "", "operation"}, [&](const Point&) { return ToString(spec.op); });
    table.Add({"size_bytes", "B", "size as nccl-tests counts it"}, &Point::size);
    table.Add({"time_us", "us", "time of a call"},
              [](const Point& point) { return point.time.ToMicroseconds(); });
    table.Add({"algbw_GBps", "GB s-1", "size over time"},
              [](const Point& point) { return point.algorithmBandwidth.ToGBps(); });
    table.Add({"busbw_GBps", "GB s-1", "bus bandwidth"},
              [](const Point& point) { return point.busBandwidth.ToGBps(); });
    table.Add({"algorithm", "", "algorithm"},
              [](const Point& point) { return ToString(point.algorithm); });
    table.Add({"protocol", "", "protocol"},
              [](const Point& point) { return ToString(point.protocol); });
    table.Add({"channels", "1", "number of channels"}, &Point::channels);
    table.Add({"fidelity", "", "fidelity in which it was simulated"},
              [](const Point& point) { return ToString(point.fidelity); });
    if (HaveBounds(points))
    {
        const auto end = [](double ErrorBound::*factor) {
            return [factor](const Point& point) {
                return point.bound->IsInside()
                           ? point.time.ToMicroseconds() * ((*point.bound).*factor)
                           : std::nan("");
            };
        };
        table.Add({"lower_us", "us", "lower end of the bound"}, end(&ErrorBound::lower));
        table.Add({"upper_us", "us", "upper end of the bound"}, end(&ErrorBound::upper));
        table.Add({"coverage", "1", "fraction of similar calls within the bound"},
                  [](const Point& point) { return point.bound->coverage; });
        table.Add({"regime", "", "regime of the bound"},
                  [](const Point& point) { return point.bound->regime; });
        table.Add({"region", "", "inside the calibrated region, or why not"},
                  [](const Point& point) { return point.bound->region; });
    }
    table.AppendAll(points);
}

} // namespace

std::vector<CollectivePoint>
RunCollectiveSweep(const CollectiveSweepSpec& spec)
{
    return ConvertErrors("", [&] {
        CallRunner runner(spec);
        return RunAllSizes(runner, spec, {});
    });
}

CollectiveSweepResult
RecordCollectiveSweep(const CollectiveSweepSpec& spec,
                      RunRecording& recording,
                      const SweepBounds& bounds,
                      const SweepProgress& progress)
{
    const auto runner = ConvertErrors("", [&] { return std::make_unique<CallRunner>(spec); });
    if (const auto width = recording.LinkSeriesWidth())
    {
        ConvertErrors("", [&] { runner->ExpectFit(*width); });
    }
    recording.Begin(runner->GetSimulation());
    auto points = ConvertErrors("", [&] { return RunAllSizes(*runner, spec, progress); });
    if (bounds.calibration != nullptr)
    {
        AddBounds(*bounds.calibration, bounds.coverage, points);
    }
    const bool isPartial = points.size() < spec.sizes.size();
    RunResult result = recording.Finish([&](RunResult& found, Hdf5File* file) {
        found.isPartial = isPartial;
        if (file != nullptr)
        {
            WriteBandwidth(*file, spec, points);
        }
    });
    return {points, std::move(result)};
}

std::string
ToJson(const CollectiveSweepSpec& spec, const CollectiveSweepResult& result)
{
    nlohmann::ordered_json object = {{"collective", ToString(spec.op)},
                                     {"system", spec.cluster.name},
                                     {"nodes", spec.cluster.nodes},
                                     {"ranks", SweepGpus(spec).size()},
                                     {"nccl_version", spec.nccl.version},
                                     {"fidelity", ToString(spec.fidelity)}};
    if (spec.sharing.tolerance > 0)
    {
        object["sharing_tolerance"] = spec.sharing.tolerance;
    }
    if (!spec.correctionsText.empty())
    {
        object["corrections"] = spec.correctionsText;
    }
    object["points"] = nlohmann::ordered_json::array();
    for (const auto& point : result.points)
    {
        object["points"].push_back({{"size_bytes", point.size.Count()},
                                    {"time_us", point.time.ToMicroseconds()},
                                    {"algbw_GBps", point.algorithmBandwidth.ToGBps()},
                                    {"busbw_GBps", point.busBandwidth.ToGBps()},
                                    {"algorithm", ToString(point.algorithm)},
                                    {"protocol", ToString(point.protocol)},
                                    {"channels", point.channels},
                                    {"fidelity", ToString(point.fidelity)}});
        if (point.bound)
        {
            object["points"].back()["bound"] =
                BoundJson(*point.bound, point.time.ToMicroseconds(), "us");
        }
    }
    AddCoupling(object, result.result);
    AddBusiestLinks(object, result.result);
    return object.dump(2);
}

void
AddBounds(const Calibration& calibration, double coverage, std::vector<CollectivePoint>& points)
{
    const Fidelity reference = calibration.GetOrigin().reference;
    const std::string name = ToString(reference);
    for (CollectivePoint& point : points)
    {
        const bool isReference = point.fidelity == reference;
        point.bound = isReference ? ErrorBound{1, 1, coverage, name, "inside", name}
                                  : calibration.BoundOf(point.position, coverage);
    }
}

std::string
MeasuredLines(const CollectiveSweepSpec& spec,
              const MeasuredBounds& measured,
              double coverage,
              const std::vector<CollectivePoint>& points)
{
    std::string text;
    std::vector<std::string> told;
    for (const CollectivePoint& point : points)
    {
        if (!RunsByDefault(point.algorithm))
        {
            continue; // measured bounds apply to NCCL's algorithms on ordinary buffers only
        }
        const MeasuredCall call{spec.op, point.size, spec.cluster.nodes};
        const auto bound = measured.FindCollective(call, coverage);
        const std::string lacks = measured.DescribeUnmeasured(call, coverage);
        if (!lacks.empty() && std::find(told.begin(), told.end(), lacks) == told.end())
        {
            told.push_back(lacks);
            text +=
                "# Measured collectives, of " + measured.GetOwner() + ": none of " + lacks + "\n";
        }
        if (bound && std::find(told.begin(), told.end(), bound->name) == told.end())
        {
            told.push_back(bound->name);
            text += "# Measured " + bound->name + ", of " + measured.GetOwner() + ": " +
                    ToText(*bound) + "\n";
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
    const std::string root = rooted ? std::to_string(spec.program ? spec.program->root : 0) : "-1";
    const bool isAuto = spec.fidelity == Fidelity::Auto;
    std::string text =
        "# " + std::string(ToString(spec.op)) + ", " + std::to_string(ranks) + " ranks, " +
        FormatNodes(spec.cluster.nodes) + " of " + spec.cluster.name + ", NCCL " +
        spec.nccl.version + ", fidelity " + ToString(spec.fidelity) +
        (spec.sharing.tolerance > 0 ? ", sharing tolerance " + FormatNumber(spec.sharing.tolerance)
                                    : "") +
        (spec.correctionsText.empty() ? "" : ", corrected by " + spec.correctionsText) + "\n#\n";
    text +=
        "#        size         count    type  redop   root        time    algbw    busbw "
        "#wrong       algo  proto  nch";
    text += HaveBounds(points) ? "        bound" : "";
    text += isAuto ? "    fidelity\n" : "\n";
    text += "#         (B)    (elements)                              (us)   (GB/s)   (GB/s)\n";
    double sum = 0;
    for (const auto& point : points)
    {
        text +=
            FormatText("%13lld  %12lld   float  %5s  %5s  %10.2f  %7.2f  %7.2f    N/A %10s %6s %4u",
                       static_cast<long long>(point.size.Count()),
                       static_cast<long long>(ElementCount(spec.op, point.size, ranks)),
                       reduces ? "sum" : "none",
                       root.c_str(),
                       point.time.ToMicroseconds(),
                       point.algorithmBandwidth.ToGBps(),
                       point.busBandwidth.ToGBps(),
                       ToString(point.algorithm),
                       ToString(point.protocol),
                       point.channels);
        text += FormatText(point.bound ? "  %15s" : "%s", BoundCell(point.bound).c_str());
        text += isAuto ? FormatText("  %10s\n", ToString(point.fidelity)) : "\n";
        sum += point.busBandwidth.ToGBps();
    }
    return text + BoundLines(points) +
           FormatText("# Avg bus bandwidth    : %g\n",
                      points.empty() ? 0 : sum / static_cast<double>(points.size()));
}

std::string
ToCsv(const CollectiveSweepSpec& spec, const std::vector<CollectivePoint>& points)
{
    const bool haveBounds = HaveBounds(points);
    std::string text = "collective,size_bytes,time_us,algbw_GBps,busbw_GBps";
    text += haveBounds ? ",lower_us,upper_us,coverage,regime,region" : "";
    const bool isAuto = spec.fidelity == Fidelity::Auto;
    text += isAuto ? ",fidelity\n" : "\n";
    for (const auto& point : points)
    {
        text += FormatText("%s,%lld,%.6f,%.6g,%.6g",
                           ToString(spec.op),
                           static_cast<long long>(point.size.Count()),
                           point.time.ToMicroseconds(),
                           point.algorithmBandwidth.ToGBps(),
                           point.busBandwidth.ToGBps());
        text += point.bound ? BoundCells(point) : "";
        text += isAuto ? std::string(",") + ToString(point.fidelity) + "\n" : "\n";
    }
    return text;
}

} // namespace weir
