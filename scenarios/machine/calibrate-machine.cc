// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/machine/calibrate-machine.h"

#include "scenarios/bound/conformal.h"
#include "scenarios/machine/machine-system.h"
#include "scenarios/machine/robust-fit.h"
#include "scenarios/readers/machine-parts.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/mapped.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <future>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>

namespace weir
{
namespace
{

// Variation between machines of one kind: standard deviations of logarithms. Estimated from the
// clusters of validation/nccl-*, whose NVLinks reach 0.87 to 0.93 of their payload rate and whose
// ports 0.92 to 0.98, whose calls take 4.2 to 7 us and whose message fetches take 0.4 to 12 us.
constexpr double EFFICIENCY_SPREAD = 0.1;
constexpr double LATENCY_SPREAD = 0.4;
constexpr double RATE_SPREAD = 0.4;
constexpr double GPU_COST_SPREAD = 0.4;
constexpr double HOST_COST_SPREAD = 1;

constexpr double MIN_EFFICIENCY = 0.2;
constexpr double MIN_LATENCY_US = 0.01;
constexpr double MAX_LATENCY_US = 20;
constexpr double MIN_RATE_GBPS = 1;
constexpr double MAX_RATE_GBPS = 1000;
constexpr double MIN_PART = 1e-3; // of the initial value, where a cost's range begins at zero

void
AddLink(const std::string& name,
        const LinkProfile& profile,
        std::vector<MachineParameter>& parameters)
{
    parameters.push_back({name + ".measured",
                          NodeCostUnit::Factor,
                          profile.measured,
                          MIN_EFFICIENCY,
                          1,
                          EFFICIENCY_SPREAD,
                          profile.source});
    parameters.push_back({name + ".latency",
                          NodeCostUnit::Microseconds,
                          profile.latency.ToMicroseconds(),
                          MIN_LATENCY_US,
                          MAX_LATENCY_US,
                          LATENCY_SPREAD,
                          profile.source});
}

void
AddLinks(const NodeSpec& node, std::vector<MachineParameter>& parameters)
{
    if (node.wiring != NvLinkWiring::None)
    {
        AddLink("nvlink", node.nvlink, parameters);
    }
    AddLink("pcie", node.pcie, parameters);
    if (node.nics == 0)
    {
        return;
    }
    AddLink("nic", node.nic, parameters);
    if (node.nicHostBridge)
    {
        parameters.push_back({"nic.hostBridge.rate",
                              NodeCostUnit::GBps,
                              node.nicHostBridge->rawRate.ToGBps(),
                              MIN_RATE_GBPS,
                              MAX_RATE_GBPS,
                              RATE_SPREAD,
                              node.nicHostBridge->source});
    }
}

double
SpreadOf(NodeCostKind kind, NodeCostUnit unit)
{
    if (unit == NodeCostUnit::GBps)
    {
        return RATE_SPREAD;
    }
    if (unit == NodeCostUnit::Factor)
    {
        const bool isEfficiency = kind == NodeCostKind::NvlsEfficiency ||
                                  kind == NodeCostKind::CollNetEfficiency ||
                                  kind == NodeCostKind::TreePortEfficiency;
        return isEfficiency ? EFFICIENCY_SPREAD : GPU_COST_SPREAD;
    }
    return kind >= NodeCostKind::KernelLaunch ? HOST_COST_SPREAD : GPU_COST_SPREAD;
}

constexpr std::size_t MIN_RUNS = 3;         // to leave out whole runs
constexpr std::size_t ALIKE = 3;            // consecutive sizes with correlated errors
constexpr std::size_t MAX_BLOCKS = 1 << 20; // per run
constexpr double DIFFERS = 0.1;             // in standard deviations of the prior
constexpr double NOISE = 0.01; // minimum scatter of repeated runs of nccl-tests, relative
constexpr double MACHINE_COVERAGES[] = {0.8, 0.9, 0.95};
constexpr const char* ALL_POINTS = "collectives";

/** A measured point: its run and its class. */
struct Point
{
    std::size_t run;
    std::string name; //!< size class
};

/** The fit problem of the runs; unknowns are ln(value / initial) / spread. */
class MachineFit
{
  public:
    MachineFit(const MachineFitSpec& spec,
               const Catalog& catalog,
               const std::function<void()>& progress)
        : m_spec(spec),
          m_catalog(catalog),
          m_progress(progress)
    {
        const NodeSpec node = ReadSystem(SystemWith(spec.system, {}), catalog).cluster.node;
        for (const MachineParameter& parameter : ParametersOf(node))
        {
            if (CanBeSet(parameter))
            {
                m_parameters.push_back(parameter);
            }
        }
        for (std::size_t run = 0; run < spec.runs.size(); run++)
        {
            const CollectiveSweepSpec& sweep = spec.runs[run].sweep;
            for (std::size_t i = 0; i < sweep.sizes.size(); i++)
            {
                m_points.push_back(
                    {run, MeasuredClassOf(sweep.sizes[i], sweep.cluster.nodes == 1)});
                m_problem.observed.push_back(std::log(spec.runs[run].measured[i]));
                m_problem.blocks.push_back(run * MAX_BLOCKS + i / ALIKE);
            }
        }
        for (const MachineParameter& each : m_parameters)
        {
            m_problem.min.push_back(std::log(each.min / each.initial) / each.spread);
            m_problem.max.push_back(std::log(each.max / each.initial) / each.spread);
        }
        m_problem.minScale = NOISE;
        m_problem.predict = [this](const auto& points) { return Predict(points); };
    }

    const FitProblem& Problem() const
    {
        return m_problem;
    }

    const std::vector<MachineParameter>& Parameters() const
    {
        return m_parameters;
    }

    const std::vector<Point>& Points() const
    {
        return m_points;
    }

    double ValueOf(std::size_t parameter, double x) const
    {
        const MachineParameter& each = m_parameters[parameter];
        return each.initial * std::exp(x * each.spread);
    }

  private:
    /** Whether a system file can set the parameter; an NCCL topology file may override it. */
    bool CanBeSet(const MachineParameter& parameter) const
    {
        try
        {
            ReadSystem(
                SystemWith(m_spec.system,
                           {{"node." + parameter.key, ToYaml(parameter.unit, parameter.initial)},
                            {"node." + parameter.SourceKey(), "measured"}}),
                m_catalog);
            return true;
        }
        catch (const InputError&)
        {
            return false;
        }
    }

    ClusterSpec ClusterAt(const std::vector<double>& x) const
    {
        std::vector<SystemSetting> settings;
        for (std::size_t i = 0; i < x.size(); i++)
        {
            if (x[i] != 0)
            {
                const MachineParameter& each = m_parameters[i];
                constexpr int DIGITS = 12; // that derivatives need
                settings.emplace_back("node." + each.key,
                                      ToYaml(each.unit, ValueOf(i, x[i]), DIGITS));
                settings.emplace_back("node." + each.SourceKey(), "measured");
            }
        }
        return ReadSystem(SystemWith(m_spec.system, settings), m_catalog).cluster;
    }

    /** The predicted times of a run: ln(seconds). */
    std::vector<double> PredictRun(std::size_t run, const ClusterSpec& cluster) const
    {
        CollectiveSweepSpec sweep = m_spec.runs[run].sweep;
        const uint32_t nodes = sweep.cluster.nodes;
        sweep.cluster = cluster;
        sweep.cluster.nodes = nodes;
        sweep.fidelity = Fidelity::Stream;
        const auto points =
            LocateErrors("run " + m_spec.runs[run].name, [&] { return RunCollectiveSweep(sweep); });
        return Mapped<double>(
            points, [&](const CollectivePoint& point) { return std::log(point.time.ToSeconds()); });
    }

    std::vector<std::vector<double>> Predict(const std::vector<std::vector<double>>& points)
    {
        const auto clusters =
            Mapped<ClusterSpec>(points, [&](const auto& point) { return ClusterAt(point); });
        const std::size_t runs = m_spec.runs.size();
        std::vector<std::vector<double>> parts(points.size() * runs);
        std::atomic<std::size_t> next{0};
        const auto work = [&] {
            for (std::size_t i = next++; i < parts.size(); i = next++)
            {
                parts[i] = PredictRun(i % runs, clusters[i / runs]);
            }
        };
        std::vector<std::future<void>> workers;
        for (uint32_t i = 1; i < m_spec.threads; i++)
        {
            workers.push_back(std::async(std::launch::async, work));
        }
        work();
        for (auto& worker : workers)
        {
            worker.get();
        }
        std::vector<std::vector<double>> predictions(points.size());
        for (std::size_t i = 0; i < parts.size(); i++)
        {
            auto& whole = predictions[i / runs];
            whole.insert(whole.end(), parts[i].begin(), parts[i].end());
        }
        m_progress();
        return predictions;
    }

    const MachineFitSpec& m_spec;
    const Catalog& m_catalog;
    const std::function<void()>& m_progress;
    std::vector<MachineParameter> m_parameters;
    std::vector<Point> m_points;
    FitProblem m_problem;
};

/** The part of each point that is left out in turn: its run; of few runs, a size class there. */
std::vector<std::size_t>
PartsOf(const std::vector<Point>& points, std::size_t runs)
{
    std::vector<std::size_t> parts;
    std::map<std::pair<std::size_t, std::string>, std::size_t> known;
    for (const Point& point : points)
    {
        const auto key = std::make_pair(point.run, runs < MIN_RUNS ? point.name : std::string());
        parts.push_back(known.emplace(key, known.size()).first->second);
    }
    return parts;
}

/** Results of the fits that leave out one part each. */
struct LeftOut
{
    std::vector<double> residuals;         //!< by point, of the fit without the point's part
    std::vector<std::vector<double>> fits; //!< unknowns, by part
};

LeftOut
LeaveOut(const MachineFit& machine, const RobustFit& fit, const std::vector<std::size_t>& parts)
{
    const FitProblem& problem = machine.Problem();
    LeftOut found;
    found.residuals.resize(parts.size());
    const std::size_t count = *std::max_element(parts.begin(), parts.end()) + 1;
    for (std::size_t part = 0; part < count; part++)
    {
        const auto isUsed = Mapped<bool>(parts, [&](std::size_t each) { return each != part; });
        found.fits.push_back(RefitPart(problem, fit, isUsed));
    }
    const auto predictions = problem.predict(found.fits);
    for (std::size_t i = 0; i < parts.size(); i++)
    {
        found.residuals[i] = problem.observed[i] - predictions[parts[i]][i];
    }
    return found;
}

/** Adds bounds of held-out errors by part; a single part gives no bound. */
void
AddBounds(const std::string& name,
          const MeasuredScope& scope,
          const std::map<std::size_t, std::vector<double>>& errors,
          MachineCalibration& calibration)
{
    std::vector<std::vector<double>> parts;
    for (const auto& [part, own] : errors)
    {
        parts.push_back(own);
    }
    if (parts.size() < 2)
    {
        return;
    }
    NestedInterval narrower{std::numeric_limits<double>::infinity(),
                            -std::numeric_limits<double>::infinity()};
    for (const double coverage : MACHINE_COVERAGES)
    {
        NestedInterval interval = IntervalOfParts(parts, coverage);
        if (std::isinf(interval.lower) || std::isinf(interval.upper))
        {
            continue;
        }
        interval.lower = std::min(interval.lower, narrower.lower);
        interval.upper = std::max(interval.upper, narrower.upper);
        narrower = interval;
        MeasuredBound bound;
        bound.name = name;
        bound.scope = scope;
        bound.lower = std::exp(interval.lower);
        bound.upper = std::exp(interval.upper);
        bound.coverage = coverage;
        bound.nestedCoverage = interval.nestedCoverage;
        bound.sources = static_cast<uint32_t>(parts.size());
        calibration.bounds.push_back(bound);
    }
}

/** Adds errors by size class and of all points. */
void
AddErrors(const MachineFit& machine,
          const std::vector<MeasuredCollective>& runs,
          const std::vector<double>& before,
          const std::vector<double>& after,
          const std::vector<double>& heldOut,
          const std::vector<std::size_t>& parts,
          MachineCalibration& calibration)
{
    const auto& points = machine.Points();
    std::map<std::string, std::vector<std::size_t>> byClass;
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < points.size(); i++)
    {
        byClass[points[i].name].push_back(i);
        all.push_back(i);
    }
    std::vector<std::pair<std::string, std::vector<std::size_t>>> classes(byClass.begin(),
                                                                          byClass.end());
    classes.emplace_back(ALL_POINTS, all);
    for (const auto& [name, members] : classes)
    {
        ClassErrors errors{name, {}, {}, {}};
        std::map<std::size_t, std::vector<double>> byPart;
        std::set<CollectiveOp> operations;
        std::set<uint32_t> nodes;
        for (const std::size_t i : members)
        {
            const CollectiveSweepSpec& sweep = runs[points[i].run].sweep;
            operations.insert(sweep.op);
            nodes.insert(sweep.cluster.nodes);
            const double observed = machine.Problem().observed[i];
            errors.before.push_back(observed - before[i]);
            errors.after.push_back(observed - after[i]);
            errors.heldOut.push_back(heldOut[i]);
            byPart[parts[i]].push_back(heldOut[i]);
        }
        const MeasuredScope scope{{operations.begin(), operations.end()},
                                  {nodes.begin(), nodes.end()}};
        AddBounds(name, scope, byPart, calibration);
        calibration.classes.push_back(std::move(errors));
    }
}

} // namespace

std::string
MachineParameter::Name() const
{
    const auto end = key.rfind(".value");
    return key.substr(0, end);
}

std::string
MachineParameter::SourceKey() const
{
    return key.substr(0, key.rfind('.')) + ".source";
}

std::vector<MachineParameter>
ParametersOf(const NodeSpec& node)
{
    std::vector<MachineParameter> parameters;
    AddLinks(node, parameters);
    const NodeCosts costs(node);
    for (const NodeCostFigure& figure : NodeCostFigures())
    {
        const NodeCost& cost = costs.Get(figure.kind);
        const bool isBounded = cost.value <= figure.max;
        const bool isOfBlocks = // scaled by BlockFloor and BlockTime instead
            figure.kind >= NodeCostKind::SendFloor && figure.kind <= NodeCostKind::RecvMebibyte;
        if (figure.unit == NodeCostUnit::Bytes || isOfBlocks || !(cost.value > 0) || !isBounded)
        {
            continue;
        }
        parameters.push_back({std::string("costs.") + figure.key + ".value",
                              figure.unit,
                              cost.value,
                              std::max(figure.min, cost.value * MIN_PART), // zero has no logarithm
                              figure.max,
                              SpreadOf(figure.kind, figure.unit),
                              cost.source});
    }
    return parameters;
}

std::string
ToYaml(NodeCostUnit unit, double value, int digits)
{
    char text[40];
    std::snprintf(text, sizeof text, "%.*g%s", digits, value, UnitName(unit));
    return text;
}

std::string
ToText(NodeCostUnit unit, double value)
{
    const std::string name = UnitName(unit);
    return ToYaml(NodeCostUnit::Factor, value) + (name.empty() ? "" : " " + name);
}

MachineCalibration
CalibrateMachine(const MachineFitSpec& spec,
                 const Catalog& catalog,
                 const std::function<void()>& progress)
{
    if (spec.runs.empty())
    {
        throw std::invalid_argument("CalibrateMachine: at least one run expected");
    }
    MachineFit machine(spec, catalog, progress);
    const auto& parameters = machine.Parameters();
    const RobustFit fit = FitRobustly(machine.Problem());
    const auto parts = PartsOf(machine.Points(), spec.runs.size());
    const LeftOut leftOut = LeaveOut(machine, fit, parts);
    const auto before =
        machine.Problem().predict({std::vector<double>(parameters.size(), 0)}).front();
    MachineCalibration calibration;
    calibration.heldOut = spec.runs.size() < MIN_RUNS ? "size classes of runs" : "runs";
    calibration.parts = leftOut.fits.size();
    calibration.points = machine.Points().size();
    calibration.scatter = fit.scale;
    for (std::size_t i = 0; i < parameters.size(); i++)
    {
        const FitUnknown& unknown = fit.unknowns[i];
        calibration.parameters.push_back(
            {parameters[i],
             machine.ValueOf(i, unknown.value),
             unknown.error * parameters[i].spread,
             unknown.isDetermined,
             unknown.alike < 0 ? "" : parameters[static_cast<std::size_t>(unknown.alike)].Name()});
    }
    for (const auto& other : fit.others)
    {
        OtherExplanation& told = calibration.others.emplace_back();
        for (std::size_t i = 0; i < parameters.size(); i++)
        {
            if (std::abs(other[i] - fit.unknowns[i].value) > DIFFERS)
            {
                told.emplace_back(parameters[i], machine.ValueOf(i, other[i]));
            }
        }
    }
    AddErrors(machine, spec.runs, before, fit.predicted, leftOut.residuals, parts, calibration);
    return calibration;
}

} // namespace weir
