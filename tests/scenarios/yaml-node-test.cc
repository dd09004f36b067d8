// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/yaml/yaml-node.h"

#include "flow-files.h"
#include "refusal.h"

#include <fstream>
#include <gtest/gtest.h>
#include <limits>

namespace weir
{
namespace
{

constexpr int64_t NO_LIMIT = std::numeric_limits<int64_t>::max();

YamlNode
Example()
{
    return YamlNode::Parse(
        "name: ring\n"
        "steps: 3\n"
        "share: 0.25\n"
        "on: true\n"
        "link: {rate: 400Gbps, latency: 150ns, buffer: 40MiB}\n"
        "chips:\n"
        "  - {clock: 1.98GHz}\n"
        "  - {clock: 1410MHz}\n"
        "nothing:\n",
        "run.yaml");
}

// yaml-cpp finds endless documents before a comma at the start of a text.
TEST(YamlNode, RefusesATextThatBeginsWithAComma)
{
    EXPECT_NE(RefusalOf([] {
                  YamlNode::Parse(",a\nb: c", "a.yaml");
              }).find("a.yaml:1:1: found invalid YAML"),
              std::string::npos);
}

// An alias is a value of its own, at its own path, written where its anchor is.
TEST(YamlNode, CopiesAliases)
{
    YamlNode node = YamlNode::Parse(
        "first: &a {x: 1}\n"
        "second: [*a]\n",
        "run.yaml");
    const YamlNode copy = node.Get("second").Items()[0].Get("x");
    EXPECT_EQ(copy.Where(), "run.yaml:1:15: second.0.x");
    node.Set("first.x", "2");
    EXPECT_EQ(copy.AsInteger(0, 9), 1);
    EXPECT_EQ(node.Get("first").Get("x").AsInteger(0, 9), 2);
    EXPECT_EQ(RefusalOf([] { YamlNode::Parse("a: &a [1, *a]", "run.yaml"); }),
              "run.yaml:1:11: found too much nesting or aliasing, expected at most 100 levels and "
              "1000000 values");
}

// The key that is there twice may be that of another map, whose brace is missing.
TEST(YamlNode, ReportsErrorsInTheSyntaxBeforeThoseInTheTree)
{
    EXPECT_EQ(RefusalOf([] { YamlNode::Parse("a: {b: 1, b: 2\nc: 3\n", "run.yaml"); }),
              "run.yaml:2:2: found invalid YAML (end of map flow not found), expected YAML");
}

TEST(YamlNode, ReadsAFileAsItIsNow)
{
    const TextFile file("steps: 3\n");
    YamlNode first = YamlNode::Load(file.Path());
    first.Set("steps", "5"); // changes this tree only
    EXPECT_EQ(YamlNode::Load(file.Path()).Get("steps").AsInteger(0, 9), 3);
    EXPECT_THROW(YamlNode::Load(file.Path()).CheckAllRead({}), InputError); // read in another one
    std::ofstream(file.Path()) << "steps: 4\n"; // of the same size, within the same instant
    EXPECT_EQ(YamlNode::Load(file.Path()).Get("steps").AsInteger(0, 9), 4);
}

TEST(YamlNode, ReadsTypedValues)
{
    const YamlNode node = Example();
    EXPECT_EQ(node.Get("name").AsString(), "ring");
    EXPECT_EQ(node.Get("steps").AsInteger(1, 8), 3);
    EXPECT_EQ(node.Get("share").AsNumber(0, 1), 0.25);
    EXPECT_TRUE(node.Get("on").AsBool());
    EXPECT_EQ(node.Get("link").Get("rate").AsRate(), Rate::Gbps(400));
    EXPECT_EQ(node.Get("link").Get("latency").AsTime(), Time::Nanoseconds(150));
    EXPECT_EQ(node.Get("link").Get("buffer").AsBytes(), Bytes::MiB(40));
    ASSERT_EQ(node.Get("chips").Items().size(), 2u);
    EXPECT_EQ(node.Get("chips").Items()[0].Get("clock").AsHertz(), 1.98e9);
    EXPECT_EQ(node.Keys().size(), 7u);
    EXPECT_FALSE(node.Find("other"));
    EXPECT_TRUE(node.Has("nothing"));
}

TEST(YamlNode, KnowsItsLocation)
{
    const YamlNode node = Example();
    EXPECT_EQ(node.Where(), "run.yaml:1:1");
    EXPECT_EQ(node.Get("steps").Where(), "run.yaml:2:8: steps");
    EXPECT_EQ(node.Get("chips").Items()[1].Get("clock").Where(), "run.yaml:8:13: chips.1.clock");
}

TEST(YamlNode, RefusesWrongTypes)
{
    const YamlNode node = Example();
    EXPECT_EQ(RefusalOf([&] { node.Get("name").AsInteger(1, 8); }),
              "run.yaml:1:7: name: found 'ring', expected a whole number from 1 to 8");
    EXPECT_EQ(RefusalOf([&] { node.Get("steps").AsInteger(4, NO_LIMIT); }),
              "run.yaml:2:8: steps: found '3', expected a whole number of at least 4");
    EXPECT_EQ(RefusalOf([&] { node.Get("share").AsInteger(0, 1); }),
              "run.yaml:3:8: share: found '0.25', expected a whole number from 0 to 1");
    EXPECT_EQ(RefusalOf([&] { node.Get("share").AsNumber(0.5, 1); }),
              "run.yaml:3:8: share: found '0.25', expected a number from 0.5 to 1");
    EXPECT_EQ(RefusalOf([&] { node.Get("steps").AsBool(); }),
              "run.yaml:2:8: steps: found '3', expected true or false");
    EXPECT_EQ(RefusalOf([&] { node.Get("link").AsString(); }),
              "run.yaml:5:7: link: found a map, expected a text");
    EXPECT_EQ(RefusalOf([&] { node.Get("chips").AsRate(); }),
              "run.yaml:7:3: chips: found a list, expected a rate with a unit, such as 400Gbps");
    EXPECT_EQ(RefusalOf([&] { node.Get("nothing").AsTime(); }),
              "run.yaml:9:1: nothing: found nothing, expected a time with a unit, such as 150ns");
    EXPECT_EQ(RefusalOf([&] { node.Get("name").Get("x"); }),
              "run.yaml:1:7: name: found 'ring', expected a map");
    EXPECT_EQ(RefusalOf([&] { node.Get("name").Items(); }),
              "run.yaml:1:7: name: found 'ring', expected a list");
}

TEST(YamlNode, RefusesNumbersThatAreNone)
{
    for (const char* text : {"nan", "inf", "1e999", "0x10", "1,5", "12abc", "--1", "''"})
    {
        const YamlNode node = YamlNode::Parse(std::string("a: ") + text, "run.yaml");
        EXPECT_NE(RefusalOf([&] { node.Get("a").AsNumber(-1e300, 1e300); }), "") << text;
        EXPECT_NE(RefusalOf([&] { node.Get("a").AsInteger(-NO_LIMIT, NO_LIMIT); }), "") << text;
    }
}

TEST(YamlNode, RefusesMissingAndUnknownKeys)
{
    const YamlNode node = Example();
    EXPECT_EQ(RefusalOf([&] { node.Get("link").Get("mtu"); }),
              "run.yaml:5:7: link.mtu: found nothing, expected a value for 'mtu'");
    EXPECT_EQ(RefusalOf([&] {
                  node.Get("link").CheckKeys({"rate", "latencies", "buffer"});
              }),
              "run.yaml:5:23: link.latency: found the unknown key 'latency', expected one of: "
              "rate, latencies, buffer (did you mean 'latencies'?)");
    EXPECT_EQ(RefusalOf([&] { node.Get("link").CheckKeys({"rate", "latency", "buffer"}); }), "");
}

TEST(YamlNode, RefusesUnknownChoices)
{
    const YamlNode node = YamlNode::Parse("kind: rail", "run.yaml");
    EXPECT_EQ(RefusalOf([&] {
                  node.Get("kind").AsEnum<int>({{"mail", 1}, {"train", 2}});
              }),
              "run.yaml:1:7: kind: found 'rail', expected one of: mail, train (did you mean "
              "'mail'?)");
}

TEST(YamlNode, RefusesWhatIsNotOneYamlDocument)
{
    const auto parse = [](const char* text) {
        return RefusalOf([&] { YamlNode::Parse(text, "run.yaml"); });
    };
    EXPECT_EQ(parse(""), "run.yaml: found an empty document, expected YAML");
    EXPECT_EQ(parse("# a comment only\n"), "run.yaml: found an empty document, expected YAML");
    EXPECT_EQ(parse("a: [1\nb: 2\n"),
              "run.yaml:2:2: found invalid YAML (end of sequence flow not found), expected YAML");
    EXPECT_EQ(parse("a: 1\n---\nb: 2\n"),
              "run.yaml:3:1: found a second YAML document, expected one");
    EXPECT_EQ(parse("a: 1\nb: {c: 2, d: 3, c: 4}\n"),
              "run.yaml:2:17: b.c: found the key 'c' twice (first on line 2), expected it once");
    EXPECT_EQ(parse("[a]: 1"), "run.yaml:1:1: found a key that is not a text, expected a text");
    EXPECT_EQ(parse("a: {[b]: 1}"),
              "run.yaml:1:5: a: found a key that is not a text, expected a text");
    EXPECT_NE(parse("&a [*a]").find("found too much nesting"), std::string::npos);
}

TEST(YamlNode, RefusesFilesThatCannotBeRead)
{
    EXPECT_EQ(RefusalOf([] { YamlNode::Load("no/such.yaml"); }),
              "no/such.yaml: found no readable file (No such file or directory), expected a YAML "
              "file");
    EXPECT_EQ(RefusalOf([] { YamlNode::Load("/"); }), "/: found a folder, expected a YAML file");
}

TEST(YamlNode, SettingsReplaceAndAdd)
{
    YamlNode node = Example();
    node.Set("steps", "8");
    node.Set("link.rate", "25GB/s");
    node.Set("chips.1.clock", "1GHz");
    node.Set("network.fidelity", "flow");
    node.Set("list", "[1, {a: 2}]");
    EXPECT_EQ(node.Get("steps").AsInteger(1, 8), 8);
    EXPECT_EQ(node.Get("link").Get("rate").AsRate(), Rate::GBps(25));
    EXPECT_EQ(node.Get("chips").Items()[1].Get("clock").AsHertz(), 1e9);
    EXPECT_EQ(node.Get("network").Get("fidelity").AsString(), "flow");
    EXPECT_EQ(node.Get("link").Get("latency").Where(), "run.yaml:5:32: link.latency");
    EXPECT_EQ(
        RefusalOf([&] { node.Get("network").Get("fidelity").AsBool(); }),
        "--set network.fidelity=flow: network.fidelity: found 'flow', expected true or false");
    EXPECT_EQ(node.Get("list").Items()[1].Get("a").Where(), "--set list=[1, {a: 2}]: list.1.a");
}

/** Keys set below the name of a system or model override the values of the named one. */
TEST(YamlNode, ANameBecomesTheBaseOfWhatIsSetBelowIt)
{
    YamlNode node = YamlNode::Parse("system: hgx-h100\n", "run.yaml");
    node.Set("system.nodes", "4");
    EXPECT_EQ(node.Get("system").Get("nodes").AsInteger(1, 8), 4);
    EXPECT_EQ(node.Get("system").Get("base").AsString(), "hgx-h100");
    EXPECT_EQ(node.Get("system").Get("base").Where(), "run.yaml:1:9: system"); // as written
}

TEST(YamlNode, RefusesSettingsOfMissingNodes)
{
    YamlNode node = Example();
    EXPECT_EQ(RefusalOf([&] { node.Set("chips.2.clock", "1GHz"); }),
              "--set chips.2.clock=1GHz: chips.2: found the index '2', expected a whole number "
              "below 2");
    EXPECT_EQ(RefusalOf([&] { node.Set("name.first", "x"); }),
              "--set name.first=x: name.first: found 'ring' above the key 'first', expected a map "
              "or a list");
    EXPECT_EQ(RefusalOf([&] { node.Set("link..rate", "x"); }),
              "--set link..rate=x: found an empty key, expected key.path=value");
}

TEST(YamlNode, OverlayMergesMapsAndKeepsLocations)
{
    YamlNode base = YamlNode::Parse("a: {x: 1, y: 2}\nlist: [1, 2, 3]\n", "base.yaml");
    const YamlNode over = YamlNode::Parse("list: [4]\na: {y: 3, z: 4}\n", "over.yaml");
    base.Overlay(over);
    EXPECT_EQ(base.Get("a").Get("x").AsInteger(0, 9), 1); // kept
    EXPECT_EQ(base.Get("a").Get("y").AsInteger(0, 9), 3); // replaced
    EXPECT_EQ(base.Get("a").Get("z").AsInteger(0, 9), 4); // added
    EXPECT_EQ(base.Get("list").Items().size(), 1u);       // lists are not merged
    EXPECT_EQ(base.Get("a").Get("x").Where(), "base.yaml:1:8: a.x");
    EXPECT_EQ(base.Get("a").Get("y").Where(), "over.yaml:2:8: a.y");
    EXPECT_EQ(base.Get("list").Items()[0].Where(), "over.yaml:1:8: list.0");

    base.Set("a.z", "5"); // does not change the overlay
    EXPECT_EQ(over.Get("a").Get("z").AsInteger(0, 9), 4);
}

TEST(YamlNode, DumpsWhatItReadsBack)
{
    const YamlNode node = YamlNode::Parse(
        "a: {x: '', y: \"two\\nlines\", z: '~', w: 'a: b # c'}\n"
        "b: [1, [2, 3], {}]\n"
        "c: \n",
        "run.yaml");
    const std::string text = node.Dump();
    const YamlNode again = YamlNode::Parse(text, "again.yaml");
    EXPECT_EQ(again.Dump(), text);
    EXPECT_EQ(again.Get("a").Get("x").AsString(), "");
    EXPECT_EQ(again.Get("a").Get("y").AsString(), "two\nlines");
    EXPECT_EQ(again.Get("a").Get("z").AsString(), "~");
    EXPECT_EQ(again.Get("a").Get("w").AsString(), "a: b # c");
    EXPECT_EQ(again.Get("b").Items()[1].Items()[1].AsInteger(0, 9), 3);
    EXPECT_FALSE(again.Get("c").IsScalar());
}

// A word of 3 MB would fill the terminal; both ends of the line tell where and what was expected.
TEST(YamlNode, ALongWordIsNotQuotedWhole)
{
    const std::string word(3'000'000, 'x');
    const std::string refusal =
        RefusalOf([&] { YamlNode::ParseArgument("a: " + word, "--set").Get("a").AsTime(); });
    EXPECT_LT(refusal.size(), 10'000u);
    EXPECT_EQ(refusal.rfind("--set: a: found 'xxx", 0), 0u);
    const std::string end = "xxx', expected a time with a unit, such as 150ns";
    EXPECT_EQ(refusal.substr(refusal.size() - end.size()), end);
    EXPECT_EQ(refusal.find("x "), std::string::npos); // the program shortens a word only once
}

// A character of two bytes stays whole, whether the word begins at an even or an odd byte.
TEST(YamlNode, ALongWordIsCutBetweenCharacters)
{
    std::string word;
    for (int i = 0; i < 10'000; i++)
    {
        word += "\xc3\xa9";
    }
    for (const char* first : {"", "x"})
    {
        const std::string refusal = RefusalOf(
            [&] { YamlNode::ParseArgument("a: " + (first + word), "--set").Get("a").AsTime(); });
        EXPECT_LT(refusal.size(), 10'000u);
        for (std::size_t i = 0; i < refusal.size(); i++)
        {
            EXPECT_EQ(refusal[i] == '\xc3', refusal[i + 1] == '\xa9') << i;
        }
    }
}

} // namespace
} // namespace weir
