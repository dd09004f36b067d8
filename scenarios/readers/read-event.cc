// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-event.h"

#include "scenarios/readers/scenario-names.h"
#include "scenarios/readers/yaml-keys.h"
#include "scenarios/yaml/quantity.h"

namespace weir
{
namespace
{

constexpr int64_t MAX_TIMES = 1'000'000; // recurrences of an event

constexpr double MAX_SLOW_GPU_FACTOR = 1e6;

void
ReadTimeAndEnds(const YamlNode& node, EventSpec& event)
{
    event.at = node.Get("at").AsTime();
    if (const auto every = node.Find("every"))
    {
        event.every = every->AsTime();
        event.times = node.Get("times").AsCount(2, MAX_TIMES);
        if (event.every == Time())
        {
            every->FailExpected("a time above zero");
        }
    }
    event.from = node.Get("from").AsString();
    event.fromWhere = node.Get("from").Where();
    const YamlNode to = node.Get("to");
    event.to = to.AsString();
    event.toWhere = to.Where();
    if (event.from == event.to)
    {
        to.Fail("found '" + event.to + "' at both ends, expected two devices");
    }
}

/** Reads a mean time to failure or repair, long enough for packets to cross the wire in it. */
Time
ReadMeanTime(const YamlNode& node, const char* key)
{
    const Time min = Time::Microseconds(1);
    const Time time = node.Get(key).AsTimeAboveZero();
    if (time < min)
    {
        const YamlNode found = node.Get(key);
        found.FailExpected("at least " + FormatTime(min));
    }
    return time;
}

void
ReadFailures(const YamlNode& node, EventSpec& event, uint64_t seed)
{
    node.Read("at", event.at, &YamlNode::AsTime);
    const YamlNode links = node.Get("links");
    event.fromWhere = links.Where();
    if (links.IsScalar())
    {
        event.links = {links.AsString()};
        if (event.links.front() != SWITCH_LINKS && event.links.front() != NIC_LINKS)
        {
            links.FailChoice({SWITCH_LINKS, NIC_LINKS, "a list of links"});
        }
    }
    else
    {
        event.links = links.AsStrings();
    }
    event.up = ReadMeanTime(node, "meanTimeToFailure");
    event.down = ReadMeanTime(node, "meanTimeToRepair");
    event.seed = seed;
    node.Read("seed", event.seed, &YamlNode::AsSeed);
}

} // namespace

EventSpec
ReadEvent(const YamlNode& node, uint64_t seed)
{
    EventSpec event;
    event.where = node.Where();
    event.kind = node.Get("kind").AsEnum(EventKindNames());
    const bool isUpOrDown = event.kind == EventKind::LinkDown || event.kind == EventKind::LinkUp;
    const std::string name =
        isUpOrDown ? "link-down, link-up" : NameOf(EventKindNames(), event.kind);
    node.CheckKeys(YamlKeysOf("event (" + name + ")"));
    if (event.kind != EventKind::Failures && event.kind != EventKind::SlowGpu)
    {
        ReadTimeAndEnds(node, event);
    }
    switch (event.kind)
    {
    case EventKind::Degrade:
        event.factor = node.Get("factor").AsNumber(0, 1);
        break;
    case EventKind::LossyLink: {
        const YamlNode loss = node.Get("loss");
        event.loss = loss.AsNumber(0, 1);
        if (event.loss == 1)
        {
            loss.FailExpected("a number below 1; a link that loses all packets is kind link-down");
        }
        break;
    }
    case EventKind::LinkDown:
    case EventKind::LinkUp:
        break;
    case EventKind::Flap:
        event.down = node.Get("down").AsTimeAboveZero();
        event.up = node.Get("up").AsTimeAboveZero();
        event.times = node.Get("times").AsCount(1, MAX_TIMES);
        break;
    case EventKind::Failures:
        ReadFailures(node, event, seed);
        break;
    case EventKind::SlowGpu:
        if (const auto at = node.Find("at"); at && at->AsTime() != Time())
        {
            at->FailExpected("0s or no time: a slow GPU is slow for the whole run");
        }
        event.from = node.Get("gpu").AsString();
        event.fromWhere = node.Get("gpu").Where();
        event.factor = node.Get("factor").AsNumber(1, MAX_SLOW_GPU_FACTOR);
        break;
    case EventKind::Background:
        event.bytes = node.Get("bytes").AsSizeAboveZero();
        break;
    }
    return event;
}

} // namespace weir
