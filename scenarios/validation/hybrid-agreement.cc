// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/packet/congestion/congestion-controls.h"
#include "scenarios/validation/agreement.h"
#include "scenarios/validation/regime-traffic.h"

#include <optional>
#include <string>
#include <utility>

namespace weir
{

namespace
{

constexpr uint32_t SPINES = 4;
constexpr uint32_t EVERY = 4; //!< flow is of interest
constexpr uint64_t SEEDS = 6;

/** In the order in which a sender is likely to meet them. */
constexpr const char* CONTROLS[] = {"none", "dcqcn", "hpcc", "swift"};

/** Mean completion times, s. */
struct Means
{
    double ofInterest{0};
    double ofRest{0};
};

Means
MeansUnder(TransportSpec spec, const RegimeTraffic& traffic)
{
    const std::vector<double> durations = PlayTraffic(traffic, SPINES, false, spec);
    const auto ofInterest = static_cast<double>(durations.size()) / EVERY;
    Means means;
    for (std::size_t i = 0; i < durations.size(); i++)
    {
        (i % EVERY == 0 ? means.ofInterest : means.ofRest) += durations[i];
    }
    means.ofInterest /= ofInterest;
    means.ofRest /= static_cast<double>(durations.size()) - ofInterest;
    return means;
}

void
Compare(const std::string& control, uint64_t seed, std::vector<CaseOutcome>& cases)
{
    PacketSpec packets;
    packets.congestionControl = *CongestionControls().Find(control);
    packets.format.header = 0; // the fluid has none
    RegimeTraffic traffic = DrawEvenTraffic(seed);
    for (std::size_t i = 0; i < traffic.messages.size(); i += EVERY)
    {
        traffic.messages[i].form = FlowForm::Packets;
    }
    const Means all = MeansUnder({packets, {}}, traffic);
    const Means some = MeansUnder({packets, CouplingSpec()}, traffic);
    const Means none = MeansUnder({}, traffic);
    const std::string name = control + ", seed " + std::to_string(seed);
    cases.push_back({name, {"packets", control}, all.ofInterest, some.ofInterest});
    cases.push_back({name + ", the rest", {"rest"}, all.ofRest, some.ofRest});
    cases.push_back({name + ", no packets", {"fluid"}, all.ofInterest, none.ofInterest});
}

} // namespace

std::vector<CaseOutcome>
CompareHybrid(const ShowSuite& progress)
{
    std::vector<CaseOutcome> cases;
    for (const char* control : CONTROLS)
    {
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
        {
            Compare(control, seed, cases);
            progress({cases.size() / 3, std::size(CONTROLS) * SEEDS, "flows of interest"});
        }
    }
    return cases;
}

} // namespace weir
