// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/packet-agreement.h"

#include "fabric/transport/packet/congestion/congestion-control.h"
#include "fabric/transport/packet/congestion/dcqcn.h"
#include "fabric/transport/packet/congestion/no-congestion-control.h"
#include "scenarios/readers/read-packets.h"
#include "scenarios/readers/read-traffic.h"
#include "scenarios/validation/regime-traffic.h"
#include "scenarios/yaml/mapped.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace weir
{

namespace
{

constexpr uint32_t REGIME_SPINES = 8;

// Calibration and comparison use different seeds.
constexpr uint64_t FIRST_CALIBRATION_SEED = 1;
constexpr uint64_t CALIBRATION_SEEDS = 4;
constexpr uint64_t FIRST_COMPARISON_SEED = 101;
constexpr uint64_t COMPARISON_SEEDS = 3;

struct Regime
{
    const char* name;
    PacketSpec packets;
    bool isSprayed{false};
};

PacketSpec
Under(const char* control)
{
    PacketSpec packets;
    packets.congestionControl = *CongestionControls().Find(control);
    packets.format.header = 0; // link rates are payload rates in every fidelity
    return packets;
}

/** Allows packets to arrive in any order. */
PacketSpec
Reordered(PacketSpec packets)
{
    constexpr uint32_t ANY = 100000;
    packets.queuePair.recovery = LossRecovery::Selective;
    packets.queuePair.reordering = ANY;
    return packets;
}

/** Ultra Ethernet as configured in its simulator (validation/uet-htsim-2025). */
PacketSpec
UltraEthernet()
{
    PacketSpec packets = Reordered(Under("nscc"));
    packets.queuePair.ackEvery = 4;
    packets.queuePair.paths = 128;
    packets.switches.flowControl = FlowControl::None;
    packets.switches.trim = true;
    packets.switches.buffer = Bytes::GiB(1);
    packets.switches.portQueue = Bytes(175000);
    packets.switches.markFrom = Bytes(35000);
    packets.switches.markAll = Bytes(140000);
    packets.switches.markProbability = 1;
    return packets;
}

PacketSpec
Infiniband()
{
    PacketSpec packets = Under("none");
    packets.switches.flowControl = FlowControl::Credits;
    packets.switches.cutThrough = true;
    return packets;
}

std::vector<Regime>
Regimes()
{
    return {{"roce", Under("none")},
            {"roce-dcqcn", Under("dcqcn")},
            {"roce-hpcc", Under("hpcc")},
            {"roce-swift", Under("swift")},
            {"infiniband", Infiniband()},
            {"spray-dcqcn", Reordered(Under("dcqcn")), true},
            {"spray-nscc", UltraEthernet(), true}};
}

/** Completion time of each message as a fluid in seconds; for a collective, of the whole. */
std::vector<double>
FluidDurations(const RegimeTraffic& traffic, bool isSprayed, const CorrectionSpec& corrections)
{
    return PlayTraffic(traffic, REGIME_SPINES, isSprayed, {{}, {}, {}, corrections});
}

std::vector<double>
PacketDurations(const RegimeTraffic& traffic, const Regime& regime)
{
    return PlayTraffic(traffic, REGIME_SPINES, regime.isSprayed, {regime.packets});
}

/** The result of one kind of traffic with packets, the reference for fluid flows. */
struct Reference
{
    RegimeTraffic traffic;
    std::vector<double> durations;
};

double
MeanErrorOf(const Reference& reference, bool isSprayed, const CorrectionSpec& corrections)
{
    const auto fluid = FluidDurations(reference.traffic, isSprayed, corrections);
    double sum = 0;
    for (std::size_t i = 0; i < fluid.size(); i++)
    {
        sum += std::abs(fluid[i] / reference.durations[i] - 1);
    }
    return sum / static_cast<double>(fluid.size());
}

double
MeanErrorOf(const std::vector<Reference>& references, bool isSprayed, const CorrectionSpec& spec)
{
    double sum = 0;
    for (const Reference& reference : references)
    {
        sum += MeanErrorOf(reference, isSprayed, spec);
    }
    return sum / static_cast<double>(references.size());
}

/** The correction parameters that follow from the regime's packet configuration. */
CorrectionSpec
KnownCorrections(const PacketSpec& packets)
{
    CorrectionSpec spec;
    if (!packets.switches.cutThrough)
    {
        spec.forwarding.packet = packets.format.mtu;
    }
    if (const auto* dcqcn = dynamic_cast<const Dcqcn*>(&*packets.congestionControl))
    {
        spec.recovery.period = dcqcn->increaseTimer;
        spec.recovery.markFrom = packets.switches.markAll;
    }
    const auto* none = dynamic_cast<const NoCongestionControl*>(&*packets.congestionControl);
    spec.ingress.shares = none != nullptr; // only pauses or credits slow senders down
    return spec;
}

} // namespace

std::vector<std::string>
PacketRegimes()
{
    return Mapped<std::string>(Regimes(), &Regime::name);
}

std::vector<CaseOutcome>
CompareWithPackets(const Catalog& catalog, const ShowSuite& progress)
{
    const SizeDistribution sizes = LoadFlowSizes("websearch", catalog);
    std::vector<CaseOutcome> cases;
    const std::vector<Regime> regimes = Regimes();
    std::size_t done = 0;
    for (const Regime& regime : regimes)
    {
        const CorrectionSpec corrections =
            ReadCorrections(YamlNode::Parse(regime.name, "fidelity"), catalog);
        for (uint64_t i = 0; i < COMPARISON_SEEDS; i++)
        {
            const uint64_t seed = FIRST_COMPARISON_SEED + i;
            for (const RegimeTraffic& traffic : DrawRegimeTraffic(seed, sizes))
            {
                const auto packets = PacketDurations(traffic, regime);
                const auto fluid = FluidDurations(traffic, regime.isSprayed, {});
                const auto corrected = FluidDurations(traffic, regime.isSprayed, corrections);
                const auto classes = [&](const std::string& of) {
                    const std::string inRegime = of + " " + regime.name;
                    return std::vector{of, inRegime, inRegime + " " + traffic.name};
                };
                for (std::size_t m = 0; m < packets.size(); m++)
                {
                    const std::string name = std::string(regime.name) + ", " + traffic.name +
                                             ", seed " + std::to_string(seed) + ", message " +
                                             std::to_string(m);
                    cases.push_back({name, classes("flow/packet"), packets[m], fluid[m]});
                    cases.push_back({name + ", corrected",
                                     classes("corrected/packet"),
                                     packets[m],
                                     corrected[m]});
                }
            }
            progress({++done, regimes.size() * COMPARISON_SEEDS, "packets and corrections"});
        }
    }
    return cases;
}

CorrectionFit
CalibrateCorrections(const std::string& name, const Catalog& catalog, const ShowSuite& progress)
{
    constexpr double PARTS[] = {1, 0.99, 0.98, 0.97, 0.96, 0.95, 0.94};
    constexpr double FLOORS[] = {0.05, 0.1, 0.15, 0.2, 0.3};
    constexpr double BLOCKED[] = {0, 0.25, 0.5, 0.75, 1};
    const SizeDistribution sizes = LoadFlowSizes("websearch", catalog);
    const std::vector<Regime> regimes = Regimes();
    const auto found = std::find_if(
        regimes.begin(), regimes.end(), [&](const Regime& each) { return each.name == name; });
    if (found == regimes.end())
    {
        throw std::invalid_argument("CalibrateCorrections: there is no regime " + name);
    }
    std::size_t done = 0;
    const auto show = [&] {
        progress(
            {++done,
             CALIBRATION_SEEDS + 1 + std::size(FLOORS) + std::size(BLOCKED) + std::size(PARTS)});
    };
    std::vector<Reference> references;
    for (uint64_t i = 0; i < CALIBRATION_SEEDS; i++)
    {
        for (RegimeTraffic& traffic : DrawRegimeTraffic(FIRST_CALIBRATION_SEED + i, sizes))
        {
            auto durations = PacketDurations(traffic, *found);
            references.push_back({std::move(traffic), std::move(durations)});
        }
        show();
    }
    CorrectionFit fit;
    fit.errorBefore = MeanErrorOf(references, found->isSprayed, {});
    fit.errorAfter = fit.errorBefore;
    const auto tryOut = [&](const CorrectionSpec& spec) {
        const double error = MeanErrorOf(references, found->isSprayed, spec);
        if (error < fit.errorAfter)
        {
            fit.errorAfter = error;
            fit.spec = spec;
        }
        show();
    };
    const CorrectionSpec known = KnownCorrections(found->packets);
    CorrectionSpec spec;
    spec.forwarding = known.forwarding;
    tryOut(spec);
    for (const double floor : FLOORS)
    {
        spec = fit.spec;
        spec.recovery = known.recovery;
        spec.recovery.floor = floor;
        spec.recovery.IsOn() ? tryOut(spec) : show();
    }
    for (const double blocked : BLOCKED)
    {
        spec = fit.spec;
        spec.ingress.shares = known.ingress.shares;
        spec.ingress.blocking = blocked;
        spec.ingress.IsOn() ? tryOut(spec) : show();
    }
    const CorrectionSpec withoutUtilization = fit.spec;
    for (const double part : PARTS)
    {
        spec = withoutUtilization;
        spec.utilization.ofLink = part;
        tryOut(spec);
    }
    return fit;
}

} // namespace weir
