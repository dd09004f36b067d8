// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-kernel-calibration.h"

#include "compute-model/kernels/kernel-time.h"

#include <utility>

namespace weir
{

namespace
{

/** Of a datasheet rate. */
double
Share(const YamlNode& node, const char* key)
{
    return node.Get(key).AsNumber(0.001, 1);
}

double
BytesPerClock(const YamlNode& node, const char* key)
{
    return node.Get(key).AsNumber(0.01, 1e4);
}

MeasuredRange
ReadRange(const YamlNode& node)
{
    node.CheckKeys({"least", "most"});
    MeasuredRange range;
    range.least = node.Get("least").AsNumber(0, 1e18);
    range.most = node.Get("most").AsNumber(range.least, 1e18);
    return range;
}

/** "256x128": rows and columns. */
GemmTile
ReadTile(const YamlNode& node)
{
    const std::string text = node.AsString();
    const std::size_t cross = text.find('x');
    const auto isNumber = [](const std::string& part) {
        return !part.empty() && part.size() <= 4 &&
               part.find_first_not_of("0123456789") == std::string::npos;
    };
    if (cross != std::string::npos && isNumber(text.substr(0, cross)) &&
        isNumber(text.substr(cross + 1)))
    {
        GemmTile tile;
        tile.rows = static_cast<uint32_t>(std::stoul(text.substr(0, cross)));
        tile.columns = static_cast<uint32_t>(std::stoul(text.substr(cross + 1)));
        if (tile.rows > 0 && tile.columns > 0)
        {
            return tile;
        }
    }
    node.Fail("found '" + text + "', expected rows x columns of a tile, such as 256x128");
}

std::vector<GemmTile>
ReadTiles(const YamlNode& node)
{
    std::vector<GemmTile> tiles;
    for (const YamlNode& tile : node.Items())
    {
        tiles.push_back(ReadTile(tile));
    }
    if (tiles.empty())
    {
        node.Fail("found an empty list, expected at least one tile");
    }
    return tiles;
}

GemmGrid
ReadGrid(const YamlNode& node)
{
    node.CheckKeys({"value", "source"});
    node.Get("source").AsString();
    const std::vector<std::pair<const char*, GemmGrid>> names{{"persistent", GemmGrid::Persistent},
                                                              {"classic", GemmGrid::Classic}};
    return node.Get("value").AsEnum(names);
}

GemmCalibration
ReadGemm(const YamlNode& node)
{
    node.CheckKeys({"source",
                    "grid",
                    "tensorEfficiency",
                    "operandBytesPerSmPerClock",
                    "epilogueBytesPerSmPerClock",
                    "exposedEpilogue",
                    "displacedWaves",
                    "memoryEfficiency",
                    "misalignedOutput",
                    "misalignedOperand",
                    "unalignedLoadsPerSmPerClock",
                    "unalignedTiles",
                    "sharpness",
                    "tileOverhead",
                    "floor",
                    "splitFloor",
                    "tiles",
                    "dimension"});
    node.Get("source").AsString();
    GemmCalibration gemm;
    gemm.grid = ReadGrid(node.Get("grid"));
    const YamlNode efficiency = node.Get("tensorEfficiency");
    efficiency.CheckKeys({"fp32", "tf32", "fp16", "bf16", "fp8"});
    for (const auto& [key, precision] : {std::pair("fp32", Precision::Fp32),
                                         std::pair("tf32", Precision::Tf32),
                                         std::pair("fp16", Precision::Fp16),
                                         std::pair("bf16", Precision::Bf16),
                                         std::pair("fp8", Precision::Fp8)})
    {
        gemm.tensorEfficiency[static_cast<std::size_t>(precision)] = Share(efficiency, key);
    }
    gemm.operandBytesPerSmPerClock = BytesPerClock(node, "operandBytesPerSmPerClock");
    gemm.epilogueBytesPerSmPerClock = BytesPerClock(node, "epilogueBytesPerSmPerClock");
    gemm.exposedEpilogue = node.Get("exposedEpilogue").AsNumber(0, 1);
    gemm.displacedWaves = node.Get("displacedWaves").AsNumber(0, 10);
    gemm.memoryEfficiency = Share(node, "memoryEfficiency");
    gemm.misalignedOutput = node.Get("misalignedOutput").AsNumber(1, 10);
    gemm.misalignedOperand = node.Get("misalignedOperand").AsNumber(1, 10);
    gemm.unalignedLoadsPerSmPerClock = node.Get("unalignedLoadsPerSmPerClock").AsNumber(0.01, 1e3);
    gemm.unalignedTiles = ReadTiles(node.Get("unalignedTiles"));
    gemm.sharpness = node.Get("sharpness").AsNumber(1, 100);
    gemm.tileOverhead = node.Get("tileOverhead").AsTime();
    gemm.floor = node.Get("floor").AsTime();
    gemm.splitFloor = node.Get("splitFloor").AsTime();
    gemm.tiles = ReadTiles(node.Get("tiles"));
    gemm.dimension = ReadRange(node.Get("dimension"));
    return gemm;
}

AttentionPass
ReadPass(const YamlNode& node)
{
    node.CheckKeys({"efficiency",
                    "softmaxColumns",
                    "aloneRate",
                    "tail",
                    "memoryEfficiency",
                    "tileOverhead",
                    "floor"});
    AttentionPass pass;
    pass.efficiency = Share(node, "efficiency");
    pass.softmaxColumns = node.Get("softmaxColumns").AsNumber(0, 1e4);
    pass.aloneRate = Share(node, "aloneRate");
    pass.tail = node.Get("tail").AsNumber(0, 10);
    pass.memoryEfficiency = Share(node, "memoryEfficiency");
    pass.tileOverhead = node.Get("tileOverhead").AsTime();
    pass.floor = node.Get("floor").AsTime();
    return pass;
}

AttentionCalibration
ReadAttention(const YamlNode& node)
{
    node.CheckKeys({"source",
                    "kernel",
                    "tileRows",
                    "headDimStep",
                    "forward",
                    "backward",
                    "sequence",
                    "headDim"});
    node.Get("source").AsString();
    AttentionCalibration attention;
    attention.kernel = node.Get("kernel").AsString();
    attention.tileRows = static_cast<uint32_t>(node.Get("tileRows").AsInteger(1, 4096));
    attention.headDimStep = static_cast<uint32_t>(node.Get("headDimStep").AsInteger(1, 4096));
    attention.forward = ReadPass(node.Get("forward"));
    attention.backward = ReadPass(node.Get("backward"));
    attention.sequence = ReadRange(node.Get("sequence"));
    attention.headDim = ReadRange(node.Get("headDim"));
    return attention;
}

MemoryKernelCalibration
ReadMemoryKernel(const YamlNode& node)
{
    node.CheckKeys({"source", "efficiency", "rates", "floor", "latency", "rowLatencyPerKiB"});
    node.Get("source").AsString();
    MemoryKernelCalibration kernel;
    kernel.efficiency = Share(node, "efficiency");
    double previous = 0;
    for (const YamlNode& item : node.Get("rates").Items())
    {
        item.CheckKeys({"rowBytes", "bytesPerSmPerClock"});
        RowRate rate;
        rate.rowBytes = item.Get("rowBytes").AsNumber(1, 1e12);
        rate.bytesPerSmPerClock = BytesPerClock(item, "bytesPerSmPerClock");
        if (!(rate.rowBytes > previous))
        {
            item.Get("rowBytes")
                .Fail("found " + item.Get("rowBytes").AsString() +
                      ", expected more than the row before");
        }
        previous = rate.rowBytes;
        kernel.rates.push_back(rate);
    }
    kernel.floor = node.Get("floor").AsTime();
    kernel.latency = node.Get("latency").AsTime();
    kernel.rowLatencyPerKiB = node.Get("rowLatencyPerKiB").AsTime();
    return kernel;
}

} // namespace

KernelCalibration
ReadKernelCalibration(const YamlNode& node)
{
    node.CheckKeys({"base",
                    "measuredOn",
                    "source",
                    "gap",
                    "fullLoadUtilisation",
                    "gemm",
                    "attention",
                    "memory"});
    KernelCalibration kernels;
    kernels.measuredOn = node.Get("measuredOn").AsString();
    kernels.source = node.Get("source").AsString();
    kernels.gap = node.Get("gap").AsTime();
    kernels.fullLoadUtilisation = Share(node, "fullLoadUtilisation");
    kernels.gemm = ReadGemm(node.Get("gemm"));
    kernels.attention = ReadAttention(node.Get("attention"));
    const YamlNode memory = node.Get("memory");
    memory.CheckKeys({"bytes", "kernels"});
    kernels.memoryBytes = ReadRange(memory.Get("bytes"));
    for (std::size_t i = 0; i < MEMORY_KERNEL_COUNT; i++)
    {
        kernels.memory.push_back(
            ReadMemoryKernel(memory.Get("kernels").Get(ToString(static_cast<MemoryKernel>(i)))));
    }
    return kernels;
}

} // namespace weir
