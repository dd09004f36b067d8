// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/clos-fabric.h"
#include "fabric/kinds/dimensions.h"
#include "fabric/kinds/dragonfly.h"
#include "fabric/kinds/fabric-kind.h"
#include "fabric/parameters/parameter-visitor.h"
#include "fabric/topology/cluster.h"

#include "box-spec.h"
#include "network-figures.h"

#include <gtest/gtest.h>

#include <cctype>
#include <limits>
#include <set>
#include <string>

/**
 * @file
 * Components that describe their parameters: copies, registries, ranges, and the description that
 * every fabric kind must give.
 */
namespace weir
{

namespace
{

/** Error message if a value of the component is out of range; empty otherwise. */
std::string
RangeRefusal(Parameterized& component)
{
    try
    {
        CheckRanges(component, "fabric");
    }
    catch (const std::invalid_argument& error)
    {
        return error.what();
    }
    return "";
}

/** A component with one parameter of each quantity. */
class Quantities : public Parameterized
{
  public:
    Time pause{Time::Microseconds(5)};
    Bytes buffer{4096};
    Rate step{Rate::Gbps(1)};
    double share{0.5};

    void VisitParameters(ParameterVisitor& visitor) override
    {
        visitor.Duration(
            {"pause", "A pause."}, pause, {Time::Microseconds(1), Time::Microseconds(9)});
        visitor.Size({"buffer", "A buffer."}, buffer, {Bytes(1), Bytes::MiB(1)});
        visitor.DataRate({"step", "A step."}, step, {Rate::Gbps(1), Rate::Infinite()});
        visitor.Number({"share", "A share."}, share, {0, 1});
    }
};

} // namespace

// A copy has the values and the dynamic type of the original, and changes independently.
TEST(Polymorphic, CopiesTheWholeObject)
{
    FatTree tree;
    tree.levels = 3;
    Polymorphic<FabricKind> one = tree;
    Polymorphic<FabricKind> other = one;
    other.As<FatTree>().levels = 4;
    EXPECT_EQ(one.As<FatTree>().levels, 3U);
    EXPECT_EQ(other.As<FatTree>().levels, 4U);
    EXPECT_TRUE(one.Is<ClosFabric>());
    EXPECT_FALSE(one.Is<Torus>());
    EXPECT_THROW(one.As<Torus>(), std::invalid_argument);
    one = Torus();
    EXPECT_STREQ(one->Name(), "torus");
    const FabricSpec spec;
    FabricSpec copy = spec;
    copy.kind.As<ClosFabric>().leafRadix = 8;
    EXPECT_EQ(spec.kind.As<ClosFabric>().leafRadix, 64U);
}

TEST(Registry, FindsByNameAndRefusesANameTwice)
{
    FabricKindRegistry kinds = FabricKinds();
    ASSERT_NE(kinds.Find("torus"), nullptr);
    EXPECT_STREQ((*kinds.Find("torus"))->Name(), "torus");
    EXPECT_EQ(kinds.Find("Torus"), nullptr);
    EXPECT_THROW(kinds.Add(Torus()), std::invalid_argument);
    EXPECT_EQ(kinds.Names().front(), "none");
}

TEST(RangeCheck, NamesTheKeyTheValueAndTheRange)
{
    FatTree tree;
    EXPECT_EQ(RangeRefusal(tree), "");
    tree.levels = 9;
    EXPECT_EQ(RangeRefusal(tree), "fabric.levels: 9, expected 2 to 8");
    Torus torus;
    torus.sizes = {4, 0};
    EXPECT_EQ(RangeRefusal(torus), "fabric.sizes.1: 0, expected 1 to 16777216");
    Dragonfly dragonfly;
    dragonfly.groups = 0;
    EXPECT_EQ(RangeRefusal(dragonfly), "fabric.groups: 0, expected 1 to 32768");
    LeafSpine leafSpine;
    leafSpine.oversubscription = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(RangeRefusal(leafSpine), "fabric.oversubscription: nan, expected 1 to 32768");
    Quantities quantities;
    EXPECT_EQ(RangeRefusal(quantities), "");
    quantities.pause = Time::Microseconds(10);
    EXPECT_EQ(RangeRefusal(quantities), "fabric.pause: 1e-05 s, expected 1e-06 to 9e-06 s");
    quantities = Quantities();
    quantities.buffer = Bytes(0);
    EXPECT_EQ(RangeRefusal(quantities), "fabric.buffer: 0 B, expected 1 to 1048576 B");
    quantities = Quantities();
    quantities.step = Rate::Gbps(0.8);
    EXPECT_EQ(RangeRefusal(quantities), "fabric.step: 1e+08 B/s, expected 1.25e+08 to inf B/s");
}

TEST(ChangedKeys, AreThoseWithAnotherValue)
{
    Quantities one;
    Quantities other;
    EXPECT_EQ(ChangedKeys(one, other), std::vector<std::string>());
    one.share = 0.25;
    one.pause = Time::Microseconds(6);
    EXPECT_EQ(ChangedKeys(one, other), (std::vector<std::string>{"pause", "share"}));
    Dragonfly withALink;
    EXPECT_THROW(ChangedKeys(withALink, withALink), std::invalid_argument);
}

// A value that differs from the old default was set by the user and stays.
TEST(ReplaceUnchanged, KeepsWhatWasSet)
{
    Quantities before;
    Quantities after;
    after.share = 0.75;
    after.buffer = Bytes(1);
    Quantities one;
    one.share = 0.25;
    ReplaceUnchanged(one, before, after);
    EXPECT_EQ(one.share, 0.25);
    EXPECT_EQ(one.buffer, Bytes(1));
    EXPECT_EQ(one.pause, before.pause);
}

// Each kind has a unique lowercase name, full sentences for the reference, distinct keys in
// camelCase, and defaults within their ranges.
TEST(FabricKinds, DescribeThemselves)
{
    std::set<std::string> names;
    for (Polymorphic<FabricKind> kind : FabricKinds())
    {
        const std::string name = kind->Name();
        SCOPED_TRACE(name);
        EXPECT_TRUE(names.insert(name).second);
        for (const char c : name)
        {
            EXPECT_TRUE(std::islower(c) != 0 || c == '-') << c;
        }
        const std::string description = kind->Description();
        EXPECT_EQ(description.back(), '.');
        EXPECT_EQ(RangeRefusal(*kind), "");
        std::set<std::string> keys;
        std::size_t count = 0;
        ForEachParameter(*kind, [&](const ParameterInfo& info, const Parameter&) {
            count++;
            EXPECT_TRUE(keys.insert(info.key).second) << info.key;
            EXPECT_TRUE(std::islower(info.key[0]) != 0) << info.key;
            EXPECT_EQ(std::string(info.help).back(), '.') << info.key;
        });
        EXPECT_EQ(KeysOf(*kind).size(), count);
    }
}

// The size that a fabric reports before it is wired equals the size of the wired topology.
TEST(FabricKinds, FixedSizeIsWhatIsWired)
{
    Dragonfly dragonfly;
    dragonfly.groups = 5;
    dragonfly.localLinks = 2;
    dragonfly.globalLinks = 3;
    Dragonfly rails;
    rails.routersPerGroup = 2;
    rails.globalLinks = 3; // 6 groups, with one of 6 global ports to each other group
    rails.nicPlacement = NicPlacement::Rails;
    DragonflyPlus plus;
    plus.groups = 4;
    plus.spinesPerGroup = 3;
    Torus torus;
    torus.sizes = {4, 3, 2, 1};
    Dimensions dimensions;
    dimensions.dimensions = ParseDimensions("Ring(4) x FullyConnected(3) x Switch(2)");
    dimensions.dimensions[1].links = 2;
    for (const Polymorphic<FabricKind>& kind :
         std::vector<Polymorphic<FabricKind>>{dragonfly, rails, plus, torus, dimensions})
    {
        const ClusterSpec spec = PointSpec(24, kind);
        const Cluster cluster(spec);
        const FabricSize size = spec.fabric.kind->FixedSize(spec);
        EXPECT_EQ(size.switches,
                  CountKind(cluster.GetTopology(), DeviceKind::LeafSwitch) +
                      CountKind(cluster.GetTopology(), DeviceKind::SpineSwitch))
            << kind->Name();
        EXPECT_EQ(size.wires, CountTrunks(cluster.GetTopology())) << kind->Name();
    }
}

// A sketch contains each network switch once, in a cell of its own unless it lies between cells.
TEST(FabricKinds, SketchesHaveEverySwitchOnce)
{
    Torus torus;
    torus.sizes = {3, 3, 3};
    Dimensions dimensions;
    dimensions.dimensions = ParseDimensions("Ring(3) x Switch(3) x FullyConnected(3)");
    FatTree tree;
    tree.leafRadix = 8;
    tree.levels = 3;
    for (const Polymorphic<FabricKind>& kind : std::vector<Polymorphic<FabricKind>>{
             RailOptimized(), LeafSpine(), tree, Dragonfly(), DragonflyPlus(), torus, dimensions})
    {
        SCOPED_TRACE(kind->Name());
        const Cluster cluster(PointSpec(27, kind, 8, 3));
        const FabricSketch sketch = kind->Sketch(cluster.GetTopology());
        std::set<uint32_t> devices;
        std::set<std::array<uint32_t, 3>> cells;
        for (const SketchedSwitch& each : sketch.switches)
        {
            EXPECT_TRUE(devices.insert(each.device.Index()).second);
            EXPECT_TRUE(sketch.style != SketchStyle::Grid || each.isBetween ||
                        cells.insert({each.part, each.row, each.column}).second);
            EXPECT_NE(each.label, "");
        }
        EXPECT_EQ(devices.size(), NetworkSwitches(cluster.GetTopology()).size());
    }
}

} // namespace weir
