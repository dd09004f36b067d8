// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-measured-shapes.h"

#include "compute-model/kernels/kernel-time.h"
#include "scenarios/readers/scenario-names.h"
#include "scenarios/readers/yaml-keys.h"

#include <string>
#include <utility>
#include <vector>

namespace weir
{

namespace
{

/** [least, most] */
MeasuredRange
Range(const YamlNode& node, const char* key)
{
    constexpr double MAX_SIZE = 1e18;
    const YamlNode list = node.Get(key);
    const std::vector<YamlNode> ends = list.Items();
    if (ends.size() != 2)
    {
        list.Fail("found " + std::to_string(ends.size()) +
                  " numbers, expected 2: the least and the most measured");
    }
    MeasuredRange range;
    range.least = ends[0].AsNumber(0, MAX_SIZE);
    range.most = ends[1].AsNumber(range.least, MAX_SIZE);
    return range;
}

MeasuredGemms
ReadGemms(const YamlNode& node)
{
    node.CheckKeys(YamlKeysOf("gpu.kernels.measured.gemm"));
    const std::vector<std::pair<const char*, GemmLayout>> layouts{
        {"tn", GemmLayout::Tn}, {"nn", GemmLayout::Nn}, {"nt", GemmLayout::Nt}};
    MeasuredGemms box;
    box.precision = node.Get("precision").AsEnum(PrecisionNames());
    box.layout = node.Get("layout").AsEnum(layouts);
    box.isWordAligned = node.Get("aligned").AsBool();
    box.m = Range(node, "m");
    box.n = Range(node, "n");
    box.k = Range(node, "k");
    box.batch = Range(node, "batch");
    box.flops = Range(node, "flops");
    return box;
}

MeasuredAttention
ReadMeasuredAttention(const YamlNode& node)
{
    node.CheckKeys(YamlKeysOf("gpu.kernels.measured.attention"));
    const std::vector<std::pair<const char*, bool>> masks{{"causal", true}, {"full", false}};
    MeasuredAttention box;
    box.precision = node.Get("precision").AsEnum(PrecisionNames());
    box.isCausal = node.Get("mask").AsEnum(masks);
    box.batch = Range(node, "batch");
    box.heads = Range(node, "heads");
    box.group = Range(node, "group");
    box.sequence = Range(node, "sequence");
    box.headDim = Range(node, "headDim");
    box.flops = Range(node, "flops");
    return box;
}

MeasuredLookups
ReadLookups(const YamlNode& node)
{
    node.CheckKeys(YamlKeysOf("gpu.kernels.measured.lookups"));
    const std::vector<std::pair<const char*, bool>> phases{{"forward", false}, {"backward", true}};
    MeasuredLookups box;
    box.precision = node.Get("precision").AsEnum(PrecisionNames());
    box.isBackward = node.Get("phase").AsEnum(phases);
    box.rows = Range(node, "rows");
    box.dim = Range(node, "dim");
    box.bags = Range(node, "bags");
    box.pooling = Range(node, "pooling");
    box.zipf = Range(node, "zipf");
    return box;
}

std::optional<MeasuredMemory>
ReadMemory(const YamlNode& node, const char* kind)
{
    const auto found = node.Find(kind);
    if (!found)
    {
        return std::nullopt;
    }
    found->CheckKeys(YamlKeysOf("gpu.kernels.measured.memory"));
    MeasuredMemory box;
    box.bytes = Range(*found, "bytes");
    if (found->Has("row"))
    {
        box.row = Range(*found, "row");
    }
    return box;
}

} // namespace

MeasuredShapes
ReadMeasuredShapes(const YamlNode& node)
{
    node.CheckKeys(YamlKeysOf("gpu.kernels.measured"));
    MeasuredShapes shapes;
    for (const YamlNode& item : node.Get("gemm").Items())
    {
        shapes.gemms.push_back(ReadGemms(item));
    }
    for (const YamlNode& item : node.Get("attention").Items())
    {
        shapes.attention.push_back(ReadMeasuredAttention(item));
    }
    for (const YamlNode& item : node.Get("lookups").Items())
    {
        shapes.lookups.push_back(ReadLookups(item));
    }
    const YamlNode memory = node.Get("memory");
    std::vector<std::string> kinds;
    for (std::size_t i = 0; i < MEMORY_KERNEL_COUNT; i++)
    {
        kinds.emplace_back(ToString(static_cast<MemoryKernel>(i)));
    }
    memory.CheckKeys(kinds);
    for (std::size_t i = 0; i < MEMORY_KERNEL_COUNT; i++)
    {
        shapes.memory.push_back(ReadMemory(memory, ToString(static_cast<MemoryKernel>(i))));
    }
    return shapes;
}

} // namespace weir
