// SPDX-License-Identifier: GPL-2.0-only

// Tests of parameters of several kinds as attributes of one object.

#include "weir-test-case.h"

#include "fabric/kinds/fabric-kind.h"
#include "fabric/transport/packet/congestion/congestion-control.h"
#include "fabric/transport/packet/congestion/hpcc.h"
#include "fabric/transport/packet/congestion/infiniband.h"
#include "fabric/transport/packet/congestion/nscc.h"
#include "fabric/transport/packet/congestion/swift.h"
#include "ns3/cluster-helper.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/simulator.h"
#include "ns3/spec-descriptions.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <string>
#include <vector>

using namespace ns3;

namespace
{

/**
 * A key that has different types in different kinds (rate, number, time) has one attribute per
 * kind.
 */
WEIR_TEST_CASE(TypesTestCase, "Where types differ, each kind has an attribute of its own")
{
    auto control = CreateObject<CongestionControlDescription>();
    control->SetAttribute("Kind", StringValue("swift"));
    control->SetAttribute("SwiftIncrease", StringValue("2"));
    control->SetAttribute("SwiftTarget", TimeValue(MicroSeconds(30)));
    const auto swift = control->GetSpec().As<weir::Swift>();
    NS_TEST_EXPECT_MSG_EQ(swift.increase, 2, "packets a round trip");
    NS_TEST_EXPECT_MSG_EQ(swift.target.ToPicoseconds(), 30000000, "a time");

    control->SetAttribute("Kind", StringValue("nscc"));
    control->SetAttribute("NsccTarget", DoubleValue(0.5));
    NS_TEST_EXPECT_MSG_EQ(control->GetSpec().As<weir::Nscc>().target, 0.5, "a number");

    control->SetAttribute("Kind", StringValue("infiniband"));
    control->SetAttribute("InfinibandIncrease", UintegerValue(4));
    NS_TEST_EXPECT_MSG_EQ(
        control->GetSpec().As<weir::Infiniband>().increase, 4, "entries of a table");

    control->SetAttribute("Kind", StringValue("hpcc"));
    NS_TEST_EXPECT_MSG_EQ_TOL(control->GetSpec().As<weir::Hpcc>().increase.ToGbps(),
                              0.05,
                              1e-12,
                              "what others were set to is not this one's");
    for (const char* name : {"Increase", "Target"})
    {
        NS_TEST_EXPECT_MSG_EQ(control->SetAttributeFailSafe(name, StringValue("2")),
                              false,
                              name << " by itself would be of no kind");
    }
}

/** The kinds to test of an object with kinds; "" for other objects. */
std::vector<std::string>
KindsOf(const TypeId& tid)
{
    return tid == CongestionControlDescription::GetTypeId() ? weir::CongestionControls().Names()
           : tid == NetworkDescription::GetTypeId()         ? weir::FabricKinds().Names()
                                                            : std::vector<std::string>{""};
}

/** The values of all attributes of an object, as text. */
std::string
TextOf(const Ptr<Object>& object)
{
    std::string text;
    const TypeId tid = object->GetInstanceTypeId();
    for (std::size_t i = 0; i < tid.GetAttributeN(); i++)
    {
        StringValue value;
        object->GetAttribute(tid.GetAttribute(i).name, value);
        text += tid.GetAttribute(i).name + " " + value.Get() + "\n";
    }
    return text;
}

/** The printed default of an attribute is its default: setting it changes nothing, in any kind. */
WEIR_TEST_CASE(PrintedDefaultsTestCase,
               "An attribute set to its printed default is what it was, in every kind")
{
    for (const TypeId& tid : {CongestionControlDescription::GetTypeId(),
                              NetworkDescription::GetTypeId(),
                              PacketDescription::GetTypeId(),
                              CouplingDescription::GetTypeId(),
                              CorrectionDescription::GetTypeId()})
    {
        for (const std::string& kind : KindsOf(tid))
        {
            ObjectFactory factory(tid.GetName());
            if (!kind.empty())
            {
                factory.Set("Kind", StringValue(kind));
            }
            const auto plain = factory.Create<Object>();
            const auto given = factory.Create<Object>();
            for (std::size_t i = 0; i < tid.GetAttributeN(); i++)
            {
                const auto info = tid.GetAttribute(i);
                const std::string text = info.initialValue->SerializeToString(info.checker);
                if (info.name != "Kind")
                {
                    given->SetAttribute(info.name, StringValue(text));
                }
            }
            NS_TEST_EXPECT_MSG_EQ(TextOf(given), TextOf(plain), tid.GetName() << " " << kind);
        }
    }
}

/** HPCC's minimum rate. @return the rate, Gb/s */
double
MinRate()
{
    ObjectFactory factory("ns3::CongestionControlDescription");
    factory.Set("Kind", StringValue("hpcc"));
    const auto control = factory.Create<CongestionControlDescription>();
    return control->GetSpec().As<weir::Hpcc>().minimumRate.ToGbps();
}

/**
 * Kinds may have different defaults; a value that is set applies to all kinds, even if it equals
 * the default of one.
 */
WEIR_TEST_CASE(OwnDefaultsTestCase,
               "Kinds keep their own defaults until an attribute is set, to whatever value")
{
    NS_TEST_EXPECT_MSG_EQ_TOL(MinRate(), 0.1, 1e-12, "HPCC's own");
    Config::SetDefault("ns3::CongestionControlDescription::MinimumRate", StringValue("1Mbps"));
    const double given = MinRate();
    Config::SetDefault("ns3::CongestionControlDescription::MinimumRate", StringValue("own"));
    const double own = MinRate();
    Config::Reset();
    NS_TEST_EXPECT_MSG_EQ_TOL(given, 0.001, 1e-12, "DCQCN's, which was asked for");
    NS_TEST_EXPECT_MSG_EQ_TOL(own, 0.1, 1e-12, "HPCC's own again");

    auto control = CreateObject<CongestionControlDescription>();
    control->SetAttribute("Kind", StringValue("hpcc"));
    control->SetAttribute("MinimumRate", StringValue("1Gbps"));
    control->SetAttribute("MinimumRate", StringValue("own"));
    NS_TEST_EXPECT_MSG_EQ_TOL(
        control->GetSpec().As<weir::Hpcc>().minimumRate.ToGbps(), 0.1, 1e-12, "set and taken back");
}

/** The default resolution of transmission times is 1 ps, which is below the simulator's. */
WEIR_TEST_CASE(ClockTestCase,
               "A time below the simulator's resolution reads 0, and 0 is the least time")
{
    auto packets = CreateObject<PacketDescription>();
    TimeValue clock;
    packets->GetAttribute("Clock", clock);
    NS_TEST_EXPECT_MSG_EQ(clock.Get(), Time(0), "no nanosecond");
    NS_TEST_EXPECT_MSG_EQ(packets->GetSpec().clock.ToPicoseconds(), 1, "the default");
    packets->SetAttribute("Clock", TimeValue(NanoSeconds(1)));
    NS_TEST_EXPECT_MSG_EQ(packets->GetSpec().clock.ToPicoseconds(), 1000, "HPCC's simulator");
    packets->SetAttribute("Clock", clock);
    NS_TEST_EXPECT_MSG_EQ(packets->GetSpec().clock.ToPicoseconds(), 1, "as before");
}

/** An optional count is a number or absent; 0 is a number, as in a YAML file. */
WEIR_TEST_CASE(OptionalCountTestCase,
               "An optional count may be 0 where a file may say 0, and absent")
{
    auto packets = CreateObject<PacketDescription>();
    for (const char* name : {"Header", "Reordering"})
    {
        StringValue text;
        packets->GetAttribute(name, text);
        NS_TEST_EXPECT_MSG_EQ(text.Get(), "absent", name);
        packets->SetAttribute(name, UintegerValue(0));
        packets->GetAttribute(name, text);
        NS_TEST_EXPECT_MSG_EQ(text.Get(), "0", name);
    }
    NS_TEST_EXPECT_MSG_EQ(packets->GetSpec().format.header.value_or(1), 0, "no bytes");
    NS_TEST_EXPECT_MSG_EQ(packets->GetSpec().queuePair.reordering.value_or(1), 0, "in order");
    packets->SetAttribute("Header", StringValue("48"));
    UintegerValue count;
    packets->GetAttribute("Header", count);
    NS_TEST_EXPECT_MSG_EQ(count.Get(), 48, "bytes");
    packets->SetAttribute("Header", StringValue("absent"));
    NS_TEST_EXPECT_MSG_EQ(
        packets->GetSpec().format.header.has_value(), false, "that of the framing");
    NS_TEST_EXPECT_MSG_EQ(
        packets->SetAttributeFailSafe("Header", UintegerValue(4097)), false, "beyond the range");
    auto network = CreateObject<NetworkDescription>();
    NS_TEST_EXPECT_MSG_EQ(network->SetAttributeFailSafe("LeafDown", UintegerValue(0)),
                          false,
                          "below the range, as in a file");
}

/** A copy of a helper is independent of the original. */
WEIR_TEST_CASE(CopiedHelperTestCase, "Attributes set on a helper do not change its copies")
{
    ClusterHelper first;
    first.SetServerAttribute("Gpus", UintegerValue(4));
    ClusterHelper second = first;
    second.SetServerAttribute("Gpus", UintegerValue(8));
    second.SetTransport("packet");
    second.SetPacketAttribute("Mtu", UintegerValue(1024));
    ClusterHelper third;
    third = second;
    second.SetPacketAttribute("Mtu", UintegerValue(2048));
    const auto mtuOf = [](const ClusterContainer& cluster) {
        return cluster.GetFabric()->GetPackets().GetSpec().format.mtu.Count();
    };
    NS_TEST_EXPECT_MSG_EQ(first.Install(1).GetNGpusPerServer(), 4, "as it was set");
    const ClusterContainer copied = second.Install(1);
    NS_TEST_EXPECT_MSG_EQ(copied.GetNGpusPerServer(), 8, "the copy's own");
    NS_TEST_EXPECT_MSG_EQ(mtuOf(copied), 2048, "of packets, too");
    NS_TEST_EXPECT_MSG_EQ(mtuOf(third.Install(1)), 1024, "an assigned one's");
    Simulator::Destroy();
}

/** The suite. */
class ParameterAttributesTestSuite : public TestSuite
{
  public:
    ParameterAttributesTestSuite()
        : TestSuite("weir-parameter-attributes", TestSuite::Type::UNIT)
    {
        AddTestCase(new TypesTestCase);
        AddTestCase(new PrintedDefaultsTestCase);
        AddTestCase(new OwnDefaultsTestCase);
        AddTestCase(new OptionalCountTestCase);
        AddTestCase(new ClockTestCase);
        AddTestCase(new CopiedHelperTestCase);
    }
};

ParameterAttributesTestSuite g_parameterAttributesTestSuite; //!< registers the suite

} // namespace
