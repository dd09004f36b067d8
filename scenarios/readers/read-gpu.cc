// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-gpu.h"

#include "scenarios/readers/machine-parts.h"
#include "scenarios/readers/read-kernel-calibration.h"
#include "scenarios/readers/read-node-costs.h"
#include "scenarios/readers/read-source.h"
#include "scenarios/readers/scenario-names.h"
#include "scenarios/readers/yaml-keys.h"

#include <utility>

namespace weir
{
namespace
{

constexpr double MAX_SPREAD = 0.2; // six of them stay above zero

/** A clock that power lowers: at most the boost clock. */
double
LoadedClock(const YamlNode& node, const char* key, double boostHz)
{
    const YamlNode value = ReadSourced(node.Get(key));
    const double hertz = value.AsHertz();
    if (!(hertz > 0) || hertz > boostHz)
    {
        value.Fail("found '" + value.AsString() +
                   "', expected a frequency above zero, at most the boost clock");
    }
    return hertz;
}

void
ReadTensorRates(const YamlNode& node, Gpu& gpu)
{
    node.CheckKeys(YamlKeysOf("gpu.tensorFlopsPerSmPerClock"));
    for (const auto& [key, precision] : PrecisionNames())
    {
        gpu.tensorFlopsPerSmPerClock[static_cast<std::size_t>(precision)] =
            node.Get(key).AsNumber(0, 1e6);
    }
    gpu.source = node.Get("source").AsString();
}

} // namespace

std::string
WrongPrecision(const Gpu& gpu, Precision precision)
{
    const auto has = [&gpu](Precision one) {
        return gpu.tensorFlopsPerSmPerClock[static_cast<std::size_t>(one)] > 0;
    };
    if (has(precision))
    {
        return "";
    }
    std::string found;
    std::string choices;
    for (const auto& [name, value] : PrecisionNames())
    {
        if (value == precision)
        {
            found = name;
        }
        if (has(value))
        {
            choices += (choices.empty() ? "" : ", ") + std::string(name);
        }
    }
    return "found " + found + ", expected one of: " + choices + " (" + gpu.name +
           " multiplies matrices in no other)";
}

PciDevices
ReadPciDevices(const YamlNode& node)
{
    node.CheckKeys(YamlKeysOf("gpu.pciDevices"));
    node.Get("source").AsString();
    PciDevices read;
    read.ids = node.Get("value").AsStrings();
    node.Read("isTypical", read.isTypical, &YamlNode::AsBool);
    return read;
}

Gpu
ReadGpu(const YamlNode& node)
{
    node.CheckKeys(YamlKeysOf("gpu"));
    Gpu gpu;
    gpu.name = node.Get("name").AsString();
    gpu.computeCapability = static_cast<uint32_t>(node.Get("computeCapability").AsInteger(60, 200));
    if (const auto devices = node.Find("pciDevices"))
    {
        ReadPciDevices(*devices);
    }
    gpu.sms = static_cast<uint32_t>(ReadSourced(node.Get("sms")).AsInteger(1, 4096));
    gpu.boostClockHz = ReadSourced(node.Get("boostClock")).AsHertz();
    if (!(gpu.boostClockHz > 0))
    {
        const YamlNode boost = ReadSourced(node.Get("boostClock"));
        boost.Fail("found '" + boost.AsString() + "', expected a frequency above zero");
    }
    gpu.burstTensorClockHz = LoadedClock(node, "burstTensorClock", gpu.boostClockHz);
    gpu.sustainedClockHz = LoadedClock(node, "sustainedClock", gpu.boostClockHz);
    if (gpu.burstTensorClockHz < gpu.sustainedClockHz)
    {
        const YamlNode burst = ReadSourced(node.Get("burstTensorClock"));
        burst.Fail("found '" + burst.AsString() + "', expected at least the sustained clock");
    }
    if (node.Find("clockSpread"))
    {
        gpu.clockSpread = ReadSourced(node.Get("clockSpread")).AsNumber(0, MAX_SPREAD);
    }
    if (node.Has("datasheetClock"))
    {
        gpu.datasheetClockHz = LoadedClock(node, "datasheetClock", gpu.boostClockHz);
    }
    ReadTensorRates(node.Get("tensorFlopsPerSmPerClock"), gpu);
    gpu.memoryRate = ReadSourced(node.Get("memoryRate")).AsRateAboveZero();
    gpu.memory = ReadSourced(node.Get("memory")).AsSizeAboveZero();
    gpu.l2 = ReadSourced(node.Get("l2")).AsSizeAboveZero();
    if (node.Has("l1"))
    {
        gpu.l1 = ReadSourced(node.Get("l1")).AsSizeAboveZero();
    }
    gpu.kernels = ReadKernelCalibration(node.Get("kernels"));
    node.Read("costs", gpu.costs, ReadNodeCosts);
    return gpu;
}

namespace
{

constexpr int MAX_BASES = 8; // one behind another

/** The file's map over that of its `base`, with the kernels of `kernels.base` under its own. */
YamlNode
WithBases(const std::string& path, const Catalog& catalog, int depth)
{
    const YamlNode file = YamlNode::Load(path);
    if (!file.IsMap())
    {
        file.Fail("found no map, expected the description of a GPU");
    }
    const YamlNode node = ResolveBase(file, CatalogKind::Gpus, catalog);
    const auto base = node.Get("kernels").Find("base");
    if (!base)
    {
        return node;
    }
    if (depth == MAX_BASES)
    {
        base->Fail("found '" + base->AsString() + "' after " + std::to_string(MAX_BASES) +
                   " others, expected bases that end at a GPU whose kernels were measured");
    }
    YamlNode under = WithBases(catalog.Find(CatalogKind::Gpus, *base), catalog, depth + 1);
    under.SetInherited();
    YamlNode merged = YamlNode::Parse("kernels: {}", path);
    merged.Get("kernels").Overlay(under.Get("kernels"));
    merged.Overlay(node);
    return merged;
}

} // namespace

Gpu
LoadGpu(const std::string& path, const Catalog& catalog)
{
    const YamlNode node = WithBases(path, catalog, 0);
    Gpu gpu = ReadGpu(node);
    if (!node.Has("l1"))
    {
        gpu.l1 = ArchitectureOf(gpu.computeCapability, catalog).l1;
    }
    node.CheckAllRead({"title", "source"});
    return gpu;
}

} // namespace weir
