// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/parameter-reader.h"

#include "fabric/kinds/fabric-dimension.h"
#include "fabric/kinds/graph-fabric.h"
#include "refusal.h"
#include "scenarios/writers/parameter-writer.h"
#include "scratch-folder.h"

#include <gtest/gtest.h>

/**
 * @file
 * Parameters of any component as YAML: they are read, written back unchanged, and refused in one
 * line with file, line, column, key, the value found and the value expected.
 */
namespace weir
{
namespace
{

enum class Order : uint8_t
{
    First,
    Last
};

/** One parameter of every type. */
class Sample : public Parameterized
{
  public:
    uint32_t ports{8};
    std::optional<uint32_t> limit;
    std::vector<uint32_t> sizes{2, 2};
    double share{0.5};
    bool isLossless{true};
    Time pause{Time::Microseconds(5)};
    Bytes buffer{Bytes::MiB(4)};
    Rate step{Rate::Gbps(1)};
    uint64_t seed{7};
    std::string label{"a label"};
    Order order{Order::First};
    std::vector<uint32_t> lanes{0, 1, 2};
    LinkProfile link;
    std::vector<FabricDimension> shape{ParseDimensions("Ring(4)")};
    NetworkGraph graph;

    void VisitParameters(ParameterVisitor& visitor) override
    {
        visitor.Count(Required("ports", "Ports."), ports, {2, 64});
        visitor.OptionalCount({"limit", "A limit."}, limit, {1, 10});
        visitor.Counts({"sizes", "Sizes."}, sizes, {1, 9});
        visitor.Number({"share", "A share."}, share, {0, 1});
        visitor.Flag({"lossless", "Whether it loses nothing."}, isLossless);
        visitor.Duration({"pause", "A pause."}, pause, {Time(), Time::Milliseconds(1)});
        visitor.Size({"buffer", "A buffer."}, buffer, {Bytes(1), Bytes::MiB(64)});
        visitor.DataRate({"step", "A step."}, step, {Rate::Gbps(0.001), Rate::Infinite()});
        visitor.Seed({"seed", "A seed."}, seed);
        visitor.Text({"label", "A label."}, label);
        visitor.Enum<Order>(
            {"order", "An order."}, order, {{"first", Order::First}, {"last", Order::Last}});
        visitor.Selection({"lanes", "Lanes."}, lanes, {"red", "green", "blue"}, "a lane");
        visitor.Link({"link", "A link."}, link);
        visitor.Dimensions({"shape", "A shape."}, shape);
        visitor.Graph({"file", "A file."}, graph);
    }
};

std::string
AsYaml(Sample sample)
{
    YamlWriter out;
    WriteParameters(out, sample);
    return out.GetText();
}

Sample
Read(const std::string& text)
{
    Sample sample;
    ReadParameters(YamlNode::Parse(text, "x.yaml"), sample, {"kind"});
    return sample;
}

/** Refusal of a map with @p line and the required key. */
std::string
Refusal(const std::string& line)
{
    return RefusalOf([&] { Read("ports: 4\n" + line + "\n"); });
}

} // namespace

TEST(ParameterReader, KeepsDefaultsAndTakesWhatIsSaid)
{
    const Sample sample = Read("kind: x\nports: 4\npause: 80us\nsizes: 4x4x2\nlanes: [blue, red]");
    EXPECT_EQ(sample.ports, 4U);
    EXPECT_EQ(sample.pause, Time::Microseconds(80));
    EXPECT_EQ(sample.sizes, (std::vector<uint32_t>{4, 4, 2}));
    EXPECT_EQ(sample.lanes, (std::vector<uint32_t>{2, 0}));
    EXPECT_EQ(sample.buffer, Bytes::MiB(4));
    EXPECT_FALSE(sample.limit);
}

TEST(ParameterReader, WhatIsWrittenReadsBackEqual)
{
    const ScratchFolder folder;
    std::ofstream(folder / "net.txt") << "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n";
    const Sample sample = Read(
        "ports: 64\nlimit: 10\nsizes: [3, 9]\nshare: 0.1\nlossless: false\npause: 1ms\n"
        "buffer: 1B\nstep: 40Mbps\nseed: 9223372036854775807\nlabel: \"12\"\norder: last\n"
        "lanes: [green]\nlink: {rate: 200Gbps, latency: 1us, source: test}\n"
        "shape: [{shape: Switch(8), inside: true}, {shape: FullyConnected(3), links: 2}]\n"
        "file: " +
        folder / "net.txt");
    const std::string once = AsYaml(sample);
    EXPECT_EQ(AsYaml(Read(once)), once);
    for (const char* part : {"limit: 10\n",
                             "  - 3\n  - 9\n",
                             "share: 0.1\n",
                             "lossless: false\n",
                             "pause: 1ms\n",
                             "buffer: 1B\n",
                             "step: 5MB/s\n",
                             "seed: 9223372036854775807\n",
                             "order: last\n",
                             "- green\n",
                             "rate: 25GB/s\n",
                             "shape: FullyConnected(3)\n    links: 2\n"})
    {
        EXPECT_NE(once.find(part), std::string::npos) << part << " in\n" << once;
    }
    EXPECT_EQ(Read(once).graph.vertices.size(), 3U);
}

TEST(ParameterReader, RefusesUnknownAndMissingKeys)
{
    EXPECT_EQ(
        Refusal("puase: 1us"),
        "x.yaml:2:1: puase: found the unknown key 'puase', expected one of: kind, ports, "
        "limit, sizes, share, lossless, pause, buffer, step, seed, label, order, lanes, link, "
        "shape, file (did you mean 'pause'?)");
    EXPECT_EQ(RefusalOf([] { Read("share: 0.5"); }),
              "x.yaml:1:1: ports: found nothing, expected a value for 'ports'");
}

TEST(ParameterReader, RefusesWhatIsOutOfRange)
{
    EXPECT_EQ(RefusalOf([] { Read("ports: 1"); }),
              "x.yaml:1:8: ports: found '1', expected a whole number from 2 to 64");
    EXPECT_EQ(Refusal("limit: 0"),
              "x.yaml:2:8: limit: found '0', expected a whole number from 1 to 10");
    EXPECT_EQ(Refusal("sizes: [4, 10]"),
              "x.yaml:2:12: sizes.1: found '10', expected a whole number from 1 to 9");
    EXPECT_EQ(Refusal("sizes: 4x10"),
              "x.yaml:2:8: sizes: found 'Ring(10)' in '4x10', expected counts from 1 to 9, such as "
              "4x4x2");
    EXPECT_EQ(Refusal("sizes: []"),
              "x.yaml:2:8: sizes: found an empty list, expected at least one count");
    EXPECT_EQ(Refusal("share: 1.5"),
              "x.yaml:2:8: share: found '1.5', expected a number from 0 to 1");
    EXPECT_EQ(Refusal("pause: 1s"),
              "x.yaml:2:8: pause: found '1s', expected a time from 0ps to 1ms");
    EXPECT_EQ(Refusal("buffer: 1GiB"),
              "x.yaml:2:9: buffer: found '1GiB', expected a size from 1B to 64MiB");
    EXPECT_EQ(Refusal("step: 1bps"),
              "x.yaml:2:7: step: found '1bps', expected a rate of at least 1Mbps");
    EXPECT_EQ(Refusal("seed: -1"),
              "x.yaml:2:7: seed: found '-1', expected a whole number of at least 0");
}

TEST(ParameterReader, RefusesBareNumbersAndOtherUnits)
{
    EXPECT_EQ(Refusal("pause: 5"),
              "x.yaml:2:8: pause: found '5' without a unit, expected a time with a unit, such as "
              "150ns");
    EXPECT_EQ(
        Refusal("buffer: 4096"),
        "x.yaml:2:9: buffer: found '4096' without a unit, expected a size with a unit, such as "
        "40MiB");
    EXPECT_EQ(Refusal("step: 40"),
              "x.yaml:2:7: step: found '40' without a unit, expected a rate with a unit, such as "
              "400Gbps");
    EXPECT_EQ(
        Refusal("pause: 5MiB"),
        "x.yaml:2:8: pause: found '5MiB' with the unit 'MiB', expected one of the units ps, ns, "
        "us, ms, s");
    EXPECT_EQ(
        Refusal("link: {rate: 200, latency: 1us}"),
        "x.yaml:2:14: link.rate: found '200' without a unit, expected a rate with a unit, such "
        "as 400Gbps");
}

TEST(ParameterReader, RefusesOtherTypesAndNames)
{
    EXPECT_EQ(Refusal("share: [1]"),
              "x.yaml:2:8: share: found a list, expected a number from 0 to 1");
    EXPECT_EQ(Refusal("lossless: maybe"),
              "x.yaml:2:11: lossless: found 'maybe', expected true or false");
    EXPECT_EQ(
        Refusal("order: lest"),
        "x.yaml:2:8: order: found 'lest', expected one of: first, last (did you mean 'last'?)");
    EXPECT_EQ(Refusal("lanes: [red, gren]"),
              "x.yaml:2:14: lanes.1: found 'gren', expected a lane (did you mean 'green'?)");
    EXPECT_EQ(Refusal("lanes: [red, red]"),
              "x.yaml:2:14: lanes.1: found 'red' again, expected each once");
    EXPECT_EQ(Refusal("lanes: []"), "x.yaml:2:8: lanes: found an empty list, expected a lane");
    EXPECT_EQ(
        Refusal("link: {latncy: 1us}"),
        "x.yaml:2:8: link.latncy: found the unknown key 'latncy', expected one of: name, rate, "
        "encoding, framing, measured, latency, ncclRate, source (did you mean 'latency'?)");
    EXPECT_EQ(Refusal("shape: Rign(4)"),
              "x.yaml:2:8: shape: found 'Rign(4)', with the unknown shape 'Rign' (did you mean "
              "'Ring'?), expected dimensions like Ring(4) x FullyConnected(8) x Switch(2)");
    EXPECT_EQ(
        Refusal("file: /nowhere"),
        "x.yaml:2:7: file: found '/nowhere', expected a file: a graph as YAML, GraphML or HPCC "
        "topology");
}

} // namespace weir
