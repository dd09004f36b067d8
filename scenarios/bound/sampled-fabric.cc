// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/bound/sampled-fabric.h"

#include "collectives/nccl/nccl-constants.h"
#include "collectives/nccl/nccl-settings.h"
#include "fabric/enum-names.h"

#include <algorithm>
#include <vector>

namespace weir
{
namespace
{

constexpr uint32_t FIRST_MINOR = 10; //!< oldest 2.x release in samples

/** Releases from FIRST_MINOR on, one for each set of constants. */
const std::vector<const char*> OTHER_VERSIONS{
    "2.10.3", "2.14.3", "2.18.5", "2.19.3", "2.21.5", "2.23.4", "2.26.2", "2.28.9"};

const std::vector<const char*> ROUTINGS{"ecmp", "ecmp", "ecmp", "spray", "adaptive", "flowlet"};
const std::vector<const char*> CLOS_KINDS{"leaf-spine", "fat-tree", "rail-optimized"};
constexpr const char* DRAGONFLY = "dragonfly"; //!< native fabric of some systems in the samples

} // namespace

const char*
ToString(Population population)
{
    static constexpr EnumName<Population> NAMES[]{
        {Population::Calibrated, "calibrated"},
        {Population::LargerGroups, "larger groups"},
        {Population::OtherFabrics, "more oversubscription"},
        {Population::OtherMachines, "other link speeds"}};
    return NameIn(NAMES, population);
}

std::string
DrawNcclVersion(RandomDraws& draws)
{
    return draws.With(0.5) ? NcclSettings().version : draws.OneOf(OTHER_VERSIONS);
}

std::string
UnsampledNcclVersion(const std::string& version)
{
    return NcclVersion::Parse(version).AtLeast(FIRST_MINOR) ? "" : "NCCL " + version;
}

std::string
DrawFabric(RandomDraws& draws, Population population)
{
    const bool isShifted = population == Population::OtherFabrics;
    if (!isShifted && draws.With(0.4))
    {
        return "";
    }
    const std::vector<const char*> ratios =
        isShifted ? std::vector<const char*>{"8", "12", "16"}
                  : std::vector<const char*>{"1", "1", "1.5", "2", "3", "4"};
    const char* sharp = draws.With(0.2) ? ", sharp: true}" : "}";
    const std::string hashSeed = std::to_string(draws.Bits() % 1000);
    const std::string routing = draws.OneOf(ROUTINGS);
    const std::string ratio = draws.OneOf(ratios);
    const std::string radix = std::to_string(draws.OneOf(std::vector<int>{18, 24, 32, 40}));
    const std::string kind = draws.OneOf(CLOS_KINDS);
    return ", fabric: {kind: " + kind + ", leafRadix: " + radix + ", oversubscription: " + ratio +
           ", routing: " + routing + ", hashSeed: " + hashSeed + sharp;
}

std::string
UnsampledFabric(const ClusterSpec& cluster)
{
    const std::string kind = cluster.fabric.kind->Name();
    const bool isSampled =
        cluster.nodes == 1 || kind == DRAGONFLY ||
        std::find(CLOS_KINDS.begin(), CLOS_KINDS.end(), kind) != CLOS_KINDS.end();
    return isSampled ? "" : "fabric " + kind;
}

void
ChangeSpeeds(ClusterSpec& cluster)
{
    constexpr double INSIDE = 8;
    constexpr double BETWEEN = 16;
    for (LinkProfile* profile :
         {&cluster.node.nvlink, &cluster.node.pcie, &cluster.node.pcieUplink})
    {
        profile->rawRate = profile->rawRate * INSIDE;
    }
    for (LinkProfile* profile : {&cluster.node.nic, &cluster.fabric.link})
    {
        profile->rawRate = profile->rawRate * BETWEEN;
    }
}

} // namespace weir
