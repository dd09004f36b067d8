// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_SCENARIO_H
#define WEIR_SCENARIOS_SCENARIO_H

#include "collectives/collective.h"
#include "collectives/fidelity.h"
#include "collectives/nccl/nccl-settings.h"
#include "compute-model/kernels/gpu.h"
#include "compute-model/training-run.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/transport/transport-spec.h"
#include "fabric/units.h"
#include "scenarios/bound/calibration.h"
#include "scenarios/traffic/traffic-pattern.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir
{

/** Which GPUs a job gets. */
enum class Placement : uint8_t
{
    Packed,       //!< node after node
    Strided,      //!< nodes 0, k, 2k, ..., then 1, k + 1, ...
    Random,       //!< nodes in an order drawn by a seed
    AcrossLeaves, //!< the first node of each leaf, then the second of each, ...
    Leaves,       //!< the nodes at the leaves of a list, leaf after leaf
    Nodes,        //!< the nodes of a list, in its order
    Gpus          //!< the GPUs of a list, by rank
};

/** Which GPUs a job gets: of nodes in some order the free ones, or those of a list. */
struct PlacementSpec
{
    Placement kind{Placement::Packed};
    uint32_t stride{2};                //!< of Strided
    uint64_t seed{0};                  //!< of Random
    std::vector<uint32_t> list{};      //!< of Nodes or Gpus
    std::string where{};               //!< for messages; empty: not from a file
    std::vector<std::string> leaves{}; //!< of Leaves: names of switches
};

/** One call of a job that is a sequence of collectives. */
struct CalledCollective
{
    CollectiveOp op{CollectiveOp::AllReduce};
    Bytes bytes; //!< as nccl-tests counts them
    CollectiveOverrides overrides{};
};

/** A job that is a collective of a group of GPUs, or several in turn, called again and again. */
struct CollectiveJobSpec
{
    std::string name;
    std::vector<CalledCollective> sequence; //!< of a round, back to back; at least one
    uint32_t calls{1};                      //!< rounds
    Time period;         //!< from the start of a round to that of the next, at least
    std::string until{}; //!< instead of a number of calls: until this job ends
    uint32_t gpus{0};    //!< how many; 0: all that its placement has
    Time start;          //!< of the first call
    PlacementSpec placement;
    std::string where{};     //!< for messages, as YamlNode::Where; empty: not from a file
    std::string gpusWhere{}; //!< the same for `gpus`, of the job where it has none
};

/** A job as a scenario has it, of a model or an imported workload; it gets its GPUs by its
 * placement when the scenario is wired. */
struct JobSpec : TrainingJobSpec
{
    PlacementSpec placement;
    std::string workload{}; //!< the file of `recorded`; empty: a model is trained
    bool isRoofline{false}; //!< kernels of the workload take what their FLOPs and bytes ask
    std::string until{};    //!< continues after its steps until this job ends; empty: does not
    std::string where{};    //!< of its plan, as YamlNode::Where; empty: not from a file
};

/** Something that happens to the fabric or a GPU at a time. */
enum class EventKind : uint8_t
{
    Degrade,   //!< a link's rate becomes factor times its own
    LossyLink, //!< a link loses this part of its packets
    LinkDown,  //!< a duplex link stops; flows that can take another path do
    LinkUp,    //!< it is restored
    Flap,      //!< a duplex link is alternately down and up
    Failures,  //!< duplex links fail and are repaired at random
    SlowGpu,   //!< a GPU computes factor times as long (for the whole run; `at` must be 0)
    Background //!< a flow of `bytes` from one GPU to another
};

/** All duplex links between switches, in EventSpec::links. */
constexpr const char* SWITCH_LINKS = "switch-to-switch";
/** All duplex links between NICs and switches, similarly. */
constexpr const char* NIC_LINKS = "nic-to-switch";

struct EventSpec
{
    EventKind kind{EventKind::Degrade};
    Time at;
    Time every;        //!< from one time to the next, where it happens several times
    uint32_t times{1}; //!< how often it happens
    std::string from;  //!< device names as `weir show system` prints them
    std::string to;
    double factor{1};
    double loss{0}; //!< LossyLink: of each packet, 0 to below 1
    Bytes bytes;
    Time down{};                      //!< Flap: how long each time; Failures: on average
    Time up{};                        //!< Flap, Failures: similarly
    std::vector<std::string> links{}; //!< Failures: "from -> to", or SWITCH_LINKS or NIC_LINKS
    uint64_t seed{1};                 //!< Failures
    std::string where{};              //!< for messages, as YamlNode::Where; empty: not from a file
    std::string fromWhere{};          //!< the same for `from` or `gpu`
    std::string toWhere{};            //!< the same for `to`
    FlowForm form{FlowForm::Fluid};   //!< of a background flow, where the fidelity is hybrid

    /** Whether it changes links or adds traffic to them. */
    bool IsOnLinks() const
    {
        return kind != EventKind::SlowGpu;
    }
};

struct OutputSpec
{
    std::string file;                     //!< HDF5; empty: none
    bool timeline{false};                 //!< whether a timeline is written, beside the file
    std::string timelineFile;             //!< where instead of beside the file; empty: beside it
    std::string fileWhere{"output.file"}; //!< for messages: the key's location, or the option
    std::string timelineWhere{"output.timeline"}; //!< the same for the timeline
    std::optional<Time> linkSeries;               //!< bin width of the link series
    std::optional<Time> portSeries;               //!< minimum bin width of the port series
    std::vector<uint32_t> ranks{}; //!< of training jobs: recorded beside those that always are
    bool allRanks{false};          //!< all of them are
    bool keepsStuck{false};        //!< files of a stalled run stay, too
};

/** Which flows of a scenario are packets where its fidelity is hybrid, and how they meet others. */
struct HybridSelection
{
    std::vector<std::string> jobs; //!< names
    bool flows{false};             //!< of events
    CouplingSpec coupling;         //!< with the links whose flows are packets
};

/** A job that is traffic between GPUs. */
struct TrafficJobSpec
{
    std::string name;
    TrafficSpec traffic;
    std::string until{}; //!< flows begin until this job ends; empty: as the traffic says
    uint32_t gpus{0};    //!< how many; 0: all that its placement has
    PlacementSpec placement;
    std::string where{};     //!< for messages, as YamlNode::Where; empty: not from a file
    std::string gpusWhere{}; //!< the same for `gpus`, of the job where it has none
};

/** An experiment, with every default filled in. */
struct Scenario
{
    std::string title;
    std::string path; //!< the file it came from, for messages and provenance
    uint64_t seed{1};
    ClusterSpec cluster;
    Gpu gpu;
    std::vector<JobSpec> jobs;
    std::vector<CollectiveJobSpec>
        collectives{};                      //!< jobs that are collectives; placed after the others
    std::vector<TrafficJobSpec> traffics{}; //!< jobs that are traffic; placed last
    Fidelity fidelity{Fidelity::Stream};
    PacketSpec packets;           //!< where the fidelity is packet or hybrid
    HybridSelection hybrid;       //!< where it is hybrid
    AutoSpec automatic{};         //!< where it is auto
    SharingSpec sharing{};        //!< of what is a fluid
    CorrectionSpec corrections{}; //!< of the fluid
    NcclSettings nccl;
    std::vector<EventSpec> events;
    OutputSpec output;
    std::vector<std::string> notes{};   //!< on values without effect, a line each
    std::vector<std::string> remarks{}; //!< what the keys cannot say: comments of its text

    bool HasLinkEvents() const
    {
        return std::any_of(
            events.begin(), events.end(), [](const EventSpec& event) { return event.IsOnLinks(); });
    }
};

} // namespace weir

#endif // WEIR_SCENARIOS_SCENARIO_H
