// SPDX-License-Identifier: GPL-2.0-only

// Tests of the parameters of fabric kinds as ns-3 attributes.

#include "weir-test-case.h"

#include "fabric/kinds/clos-fabric.h"
#include "fabric/kinds/dimensions.h"
#include "fabric/kinds/dragonfly.h"
#include "fabric/kinds/fabric-kind.h"
#include "fabric/parameters/parameter-visitor.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/nstime.h"
#include "ns3/spec-descriptions.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <string>

using namespace ns3;

namespace
{

/** An attribute that is not set leaves each kind its own default. */
WEIR_TEST_CASE(DefaultsTestCase, "Each kind has its own defaults until an attribute is set")
{
    Ptr<NetworkDescription> network = CreateObject<NetworkDescription>();
    UintegerValue count;
    network->GetAttribute("LeafRadix", count);
    NS_TEST_EXPECT_MSG_EQ(count.Get(), 64, "of the Clos that is the default");
    NS_TEST_EXPECT_MSG_EQ(
        network->GetSpec().kind->Name(), std::string("rail-optimized"), "the default kind");
    network->SetAttribute("Kind", StringValue("dragonfly"));
    const auto spec = network->GetSpec();
    NS_TEST_EXPECT_MSG_EQ(spec.kind.As<weir::Dragonfly>().leafRadix.has_value(),
                          false,
                          "a dragonfly's routers have the ports that they need");
    NS_TEST_EXPECT_MSG_EQ(spec.kind.As<weir::Dragonfly>().nicsPerRouter, 2, "a dragonfly's");
    network->SetAttribute("Kind", StringValue("torus"));
    NS_TEST_EXPECT_MSG_EQ(network->GetSpec().kind.As<weir::Torus>().nicsPerRouter, 1, "a torus's");
}

/** Values are set in the chosen kind, in any order of attributes. */
WEIR_TEST_CASE(ValuesTestCase,
               "Attributes are the parameters of the kind, before and after it is chosen")
{
    Ptr<NetworkDescription> network = CreateObject<NetworkDescription>();
    network->SetAttribute("LeafRadix", UintegerValue(32));
    network->SetAttribute("Kind", StringValue("fat-tree"));
    network->SetAttribute("Levels", UintegerValue(3));
    network->SetAttribute("Oversubscription", DoubleValue(2));
    const auto tree = network->GetSpec().kind.As<weir::FatTree>();
    NS_TEST_EXPECT_MSG_EQ(tree.leafRadix, 32, "set before the kind");
    NS_TEST_EXPECT_MSG_EQ(tree.levels, 3, "set after it");
    NS_TEST_EXPECT_MSG_EQ(tree.oversubscription, 2, "set after it");

    network->SetAttribute("Kind", StringValue("dragonfly"));
    network->SetAttribute("Groups", UintegerValue(9));
    network->SetAttribute("NicPlacement", StringValue("rails"));
    network->SetAttribute("GlobalLinkRate", DataRateValue(DataRate("100Gbps")));
    network->SetAttribute("GlobalLinkLatency", TimeValue(NanoSeconds(700)));
    network->SetAttribute("GlobalLinkEfficiency", DoubleValue(0.9));
    const auto dragonfly = network->GetSpec().kind.As<weir::Dragonfly>();
    NS_TEST_EXPECT_MSG_EQ(*dragonfly.leafRadix, 32, "every kind that has the key has it");
    NS_TEST_EXPECT_MSG_EQ(*dragonfly.groups, 9, "a count that is open by default");
    NS_TEST_EXPECT_MSG_EQ(
        (dragonfly.nicPlacement == weir::NicPlacement::Rails), true, "a choice by its name");
    NS_TEST_EXPECT_MSG_EQ_TOL(dragonfly.globalLink.PayloadRate().ToGbps(), 90, 1e-9, "a link");
    NS_TEST_EXPECT_MSG_EQ(dragonfly.globalLink.latency.ToPicoseconds(), 700000, "a link's latency");

    network->SetAttribute("Kind", StringValue("torus"));
    network->SetAttribute("Sizes", StringValue("4x4x2"));
    const auto torus = network->GetSpec().kind.As<weir::Torus>();
    NS_TEST_EXPECT_MSG_EQ((torus.sizes == std::vector<uint32_t>{4, 4, 2}), true, "counts");
    StringValue text;
    network->GetAttribute("Sizes", text);
    NS_TEST_EXPECT_MSG_EQ(text.Get(), "4x4x2", "as it was set");

    network->SetAttribute("Kind", StringValue("dimensions"));
    network->SetAttribute("Dimensions", StringValue("R(4) x SW(2)"));
    network->GetAttribute("Dimensions", text);
    NS_TEST_EXPECT_MSG_EQ(text.Get(), "Ring(4) x Switch(2)", "in full words");
}

/** Config::SetDefault applies to objects that are created later. */
WEIR_TEST_CASE(ConfiguredTestCase, "Defaults of attributes can be configured")
{
    Config::SetDefault("ns3::NetworkDescription::Kind", StringValue("fat-tree"));
    Config::SetDefault("ns3::NetworkDescription::Levels", UintegerValue(4));
    const auto spec = CreateObject<NetworkDescription>()->GetSpec();
    Config::Reset();
    NS_TEST_EXPECT_MSG_EQ(spec.kind.As<weir::FatTree>().levels, 4, "the configured default");
    const auto later = CreateObject<NetworkDescription>()->GetSpec();
    NS_TEST_EXPECT_MSG_EQ(
        later.kind->Name(), std::string("rail-optimized"), "its own again after a reset");
}

/** Attributes change single values of a plain description. */
WEIR_TEST_CASE(PlainValuesTestCase, "Attributes change single values of a plain description")
{
    weir::FabricSpec plain;
    weir::Dragonfly dragonfly;
    dragonfly.routersPerGroup = 16;
    dragonfly.globalLinks = 5;
    plain.kind = dragonfly;
    Ptr<NetworkDescription> network = CreateObject<NetworkDescription>();
    network->SetSpec(plain);
    network->SetAttribute("GlobalLinks", UintegerValue(6));
    const auto spec = network->GetSpec();
    NS_TEST_EXPECT_MSG_EQ(
        spec.kind.As<weir::Dragonfly>().routersPerGroup, 16, "of the plain values");
    NS_TEST_EXPECT_MSG_EQ(spec.kind.As<weir::Dragonfly>().globalLinks, 6, "of the attribute");
    StringValue kind;
    network->GetAttribute("Kind", kind);
    NS_TEST_EXPECT_MSG_EQ(kind.Get(), "dragonfly", "the plain values' kind");
}

/** Every key of every kind has an attribute, except a graph's file and its order of hosts. */
WEIR_TEST_CASE(CompleteTestCase, "Every parameter of every kind is an attribute")
{
    const TypeId tid = NetworkDescription::GetTypeId();
    for (weir::Polymorphic<weir::FabricKind> kind : weir::FabricKinds())
    {
        for (std::string key : weir::KeysOf(*kind))
        {
            const bool isOfFile = key == "file" || key == "order";
            key.front() = static_cast<char>(key.front() - 'a' + 'A');
            TypeId::AttributeInformation info;
            const bool isThere = tid.LookupAttributeByName(key, &info) ||
                                 tid.LookupAttributeByName(key + "Rate", &info);
            NS_TEST_EXPECT_MSG_EQ(isThere, !isOfFile, key << " of " << kind->Name());
        }
    }
}

/** The suite. */
class NetworkDescriptionTestSuite : public TestSuite
{
  public:
    NetworkDescriptionTestSuite()
        : TestSuite("weir-network-description", TestSuite::Type::UNIT)
    {
        AddTestCase(new DefaultsTestCase);
        AddTestCase(new ValuesTestCase);
        AddTestCase(new ConfiguredTestCase);
        AddTestCase(new PlainValuesTestCase);
        AddTestCase(new CompleteTestCase);
    }
};

NetworkDescriptionTestSuite g_networkDescriptionTestSuite; //!< registers the suite

} // namespace
