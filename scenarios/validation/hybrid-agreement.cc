// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/packet/congestion/congestion-control.h"
#include "scenarios/readers/read-packets.h"
#include "scenarios/readers/read-scenario.h"
#include "scenarios/simulation/run-scenario.h"
#include "scenarios/validation/agreement.h"
#include "scenarios/validation/regime-traffic.h"

#include <string>

namespace weir
{

namespace
{

constexpr uint32_t SPINES = 4;
constexpr uint32_t EVERY = 4; //!< every EVERY-th flow is of interest
constexpr uint64_t SEEDS = 6;

constexpr const char* CONTROLS[] = {"none", "dcqcn", "hpcc", "swift"};

/**
 * Corrections calibrated for a fluid under a control, without ingress sharing, which does not apply
 * next to packets.
 */
CorrectionSpec
CorrectionsFor(const std::string& control, const Catalog& catalog)
{
    const std::string name = control == CONTROLS[0] ? "roce" : "roce-" + control;
    CorrectionSpec corrections = ReadCorrections(YamlNode::Parse(name, "hybrid"), catalog);
    corrections.ingress = {};
    return corrections;
}

/** Mean completion times in seconds. */
struct Means
{
    double ofInterest{0};
    double ofBackground{0};
};

Means
MeansUnder(TransportSpec spec, const RegimeTraffic& traffic)
{
    const std::vector<double> durations = PlayTraffic(traffic, SPINES, false, spec);
    const auto ofInterest = static_cast<double>(durations.size()) / EVERY;
    Means means;
    for (std::size_t i = 0; i < durations.size(); i++)
    {
        (i % EVERY == 0 ? means.ofInterest : means.ofBackground) += durations[i];
    }
    means.ofInterest /= ofInterest;
    means.ofBackground /= static_cast<double>(durations.size()) - ofInterest;
    return means;
}

void
Compare(const std::string& control,
        uint64_t seed,
        const Catalog& catalog,
        std::vector<CaseOutcome>& cases)
{
    PacketSpec packets;
    packets.congestionControl = *CongestionControls().Find(control);
    packets.format.header = 0; // the fluid has no headers
    RegimeTraffic traffic = DrawEvenTraffic(seed);
    for (std::size_t i = 0; i < traffic.messages.size(); i += EVERY)
    {
        traffic.messages[i].form = FlowForm::Packets;
    }
    const Means all = MeansUnder({packets, {}}, traffic);
    const Means some = MeansUnder({packets, CouplingSpec()}, traffic);
    const Means corrected =
        MeansUnder({packets, CouplingSpec(), {}, CorrectionsFor(control, catalog)}, traffic);
    const Means none = MeansUnder({}, traffic);
    const std::string name = control + ", seed " + std::to_string(seed);
    cases.push_back({name, {"packets", control}, all.ofInterest, some.ofInterest});
    cases.push_back(
        {name + ", background flows", {"background"}, all.ofBackground, some.ofBackground});
    cases.push_back({name + ", corrected",
                     {"corrected packets", "corrected, " + control},
                     all.ofInterest,
                     corrected.ofInterest});
    cases.push_back({name + ", corrected, background flows",
                     {"corrected background"},
                     all.ofBackground,
                     corrected.ofBackground});
    cases.push_back({name + ", no packets", {"fluid"}, all.ofInterest, none.ofInterest});
}

struct ProbedJob
{
    const char* name;
    const char* call;
};

constexpr ProbedJob PROBED_JOBS[] = {{"ring", "op: all-reduce, algorithm: ring"},
                                     {"tree", "op: all-reduce, algorithm: tree"},
                                     {"all-to-all", "op: all-to-all"}};

/**
 * Compares calls on every other node of eight, concurrent with an all-to-all on the other nodes,
 * with 2:1 oversubscription.
 */
void
CompareJob(const ProbedJob& job,
           const std::string& control,
           const Catalog& catalog,
           std::vector<CaseOutcome>& cases)
{
    const std::string text =
        "title: compared\nsystem: {base: hgx-h100, nodes: 8, fabric: {kind: leaf-spine, leafDown: "
        "16, oversubscription: 2, routing: ecmp}}\njobs:\n  - {name: probe, collective: {" +
        std::string(job.call) +
        ", bytes: 4MiB, calls: 3}, placement: {nodes: [0, 2, 4, 6]}}\n"
        "  - {name: rest, collective: {op: all-to-all, bytes: 16MiB}, until: probe, placement: "
        "{nodes: [1, 3, 5, 7]}}\nnetwork: {fidelity: hybrid, packets: {jobs: [probe]}, "
        "congestionControl: {kind: " +
        control + "}}\n";
    Scenario scenario = ReadScenario(YamlNode::Parse(text, job.name), catalog);
    const auto mean = [&scenario](Fidelity fidelity) {
        scenario.fidelity = fidelity;
        return RunScenario(scenario).collectives.front().MeanTime();
    };
    const std::string name = std::string(job.name) + ", " + control;
    const Time all = mean(Fidelity::Packet);
    const std::string kind = std::string(job.name) + " job";
    cases.push_back(CaseOf(name, {"job", kind}, all, mean(Fidelity::Hybrid)));
    cases.push_back(CaseOf(name + ", no packets", {"fluid job"}, all, mean(Fidelity::Flow)));
    scenario.corrections = CorrectionsFor(control, catalog);
    cases.push_back(CaseOf(
        name + ", corrected", {"corrected job", "corrected " + kind}, all, mean(Fidelity::Hybrid)));
}

} // namespace

std::vector<CaseOutcome>
CompareHybrid(const Catalog& catalog, const ShowSuite& progress)
{
    std::vector<CaseOutcome> cases;
    std::size_t done = 0;
    for (const char* control : CONTROLS)
    {
        for (const ProbedJob& job : PROBED_JOBS)
        {
            CompareJob(job, control, catalog, cases);
            progress({++done, std::size(CONTROLS) * std::size(PROBED_JOBS), "jobs of interest"});
        }
    }
    done = 0;
    for (const char* control : CONTROLS)
    {
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
        {
            Compare(control, seed, catalog, cases);
            progress({++done, std::size(CONTROLS) * SEEDS, "flows of interest"});
        }
    }
    return cases;
}

} // namespace weir
