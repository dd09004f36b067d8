// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-gpu.h"

#include "compute-model/kernels/kernel-calibration.h"
#include "compute-model/kernels/measured-shapes.h"
#include "scenarios/readers/machine-parts.h"
#include "scenarios/readers/scenario-names.h"
#include "scenarios/readers/yaml-keys.h"
#include "scenarios/yaml/names.h"
#include "scenarios/yaml/quantity.h"

namespace weir
{
namespace
{

/** [min, max] */
MeasuredRange
Range(const YamlNode& node, const char* key)
{
    constexpr double MAX_SIZE = 1e18;
    const YamlNode list = node.Get(key);
    const std::vector<YamlNode> ends = list.Items();
    if (ends.size() != 2)
    {
        list.Fail("found " + std::to_string(ends.size()) +
                  " numbers, expected 2: the measured minimum and maximum");
    }
    MeasuredRange range;
    range.min = ends[0].AsNumber(0, MAX_SIZE);
    range.max = ends[1].AsNumber(range.min, MAX_SIZE);
    return range;
}

MeasuredGemms
ReadGemms(const YamlNode& node)
{
    node.CheckKeys(YamlKeysOf("gpu.kernels.measured.gemm"));
    MeasuredGemms box;
    box.precision = node.Get("precision").AsEnum(PrecisionNames());
    box.layout = node.Get("layout").AsEnum(GemmLayoutNames());
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
    const NamedChoices<bool> masks{{"causal", true}, {"full", false}};
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
    const NamedChoices<bool> phases{{"forward", false}, {"backward", true}};
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

MeasuredMemory
ReadMemory(const YamlNode& node)
{
    node.CheckKeys(YamlKeysOf("gpu.kernels.measured.memory"));
    MeasuredMemory box;
    box.bytes = Range(node, "bytes");
    if (node.Has("row"))
    {
        box.row = Range(node, "row");
    }
    return box;
}

/**
 * Reads the map `kernels.measured` of a GPU: lists `gemm`, `attention` and `lookups` of boxes of
 * measured shapes, and a map `memory` of boxes by kind; each range is [min, max].
 * @throws InputError with the location of what is missing, unknown or out of range.
 */
MeasuredShapes
ReadMeasuredShapes(const YamlNode& node)
{
    node.CheckKeys(YamlKeysOf("gpu.kernels.measured"));
    MeasuredShapes shapes;
    shapes.gemms = node.Get("gemm").Each(ReadGemms);
    shapes.attention = node.Get("attention").Each(ReadMeasuredAttention);
    shapes.lookups = node.Get("lookups").Each(ReadLookups);
    const YamlNode memory = node.Get("memory");
    const std::vector<std::string> kinds = ChoiceNames(MemoryKernelNames());
    memory.CheckKeys(kinds);
    for (const std::string& kind : kinds)
    {
        memory.Read(kind.c_str(), shapes.memory.emplace_back(), ReadMemory);
    }
    return shapes;
}

/** Reads a fraction of a datasheet rate. */
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

/** "256x128": rows and columns. */
GemmTile
ReadTile(const YamlNode& node)
{
    const std::string text = node.AsString();
    const std::size_t cross = text.find('x');
    const auto extent = [](const std::string& part) { // of at most four digits; 0 for other texts
        return part.size() <= 4 ? ParseNumber<uint32_t>(part).value_or(0) : 0;
    };
    GemmTile tile;
    tile.rows = extent(text.substr(0, cross));
    tile.columns = cross == std::string::npos ? 0 : extent(text.substr(cross + 1));
    if (tile.rows > 0 && tile.columns > 0)
    {
        return tile;
    }
    node.FailExpected("rows x columns of a tile, such as 256x128");
}

std::vector<GemmTile>
ReadTiles(const YamlNode& node)
{
    return node.EachOf("at least one tile", ReadTile);
}

NamedChoices<GemmGrid>
GridNames()
{
    return {{"persistent", GemmGrid::Persistent}, {"classic", GemmGrid::Classic}};
}

GemmGrid
ReadGrid(const YamlNode& node)
{
    node.CheckKeys(YamlKeysOf("gpu.kernels.gemm.grid"));
    node.Get("source").AsString();
    return node.Get("value").AsEnum(GridNames());
}

/** Reads the GEMM kernels of a family that differs from those of `gemm`. */
GemmFamily
ReadFamily(const YamlNode& node)
{
    node.CheckKeys(YamlKeysOf("gpu.kernels.gemm.family"));
    node.Get("source").AsString();
    GemmFamily family;
    family.grid = node.Get("grid").AsEnum(GridNames());
    family.tileOverhead = node.Get("tileOverhead").AsTime();
    family.tiles = ReadTiles(node.Get("tiles"));
    return family;
}

GemmCalibration
ReadGemm(const YamlNode& node)
{
    node.CheckKeys(YamlKeysOf("gpu.kernels.gemm"));
    node.Get("source").AsString();
    GemmCalibration gemm;
    gemm.grid = ReadGrid(node.Get("grid"));
    const YamlNode efficiency = node.Get("tensorEfficiency");
    efficiency.CheckKeys(YamlKeysOf("gpu.kernels.gemm.tensorEfficiency"));
    for (const auto& [key, precision] : PrecisionNames())
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
    node.Read("tf32", gemm.tf32, ReadFamily);
    node.Read("fp32", gemm.fp32, ReadFamily);
    node.Read("convolution", gemm.convolution, ReadFamily);
    gemm.gatheredLoadsPerSmPerClock = node.Get("gatheredLoadsPerSmPerClock").AsNumber(0, 1e3);
    return gemm;
}

AttentionPass
ReadPass(const YamlNode& node)
{
    node.CheckKeys(YamlKeysOf("gpu.kernels.attention.pass"));
    AttentionPass pass;
    pass.efficiency = Share(node, "efficiency");
    pass.softmaxColumns = node.Get("softmaxColumns").AsNumber(0, 1e4);
    pass.singleTileRate = Share(node, "singleTileRate");
    pass.tail = node.Get("tail").AsNumber(0, 10);
    pass.memoryEfficiency = Share(node, "memoryEfficiency");
    pass.tileOverhead = node.Get("tileOverhead").AsTime();
    pass.floor = node.Get("floor").AsTime();
    return pass;
}

AttentionCalibration
ReadAttention(const YamlNode& node)
{
    node.CheckKeys(YamlKeysOf("gpu.kernels.attention"));
    node.Get("source").AsString();
    AttentionCalibration attention;
    attention.kernel = node.Get("kernel").AsString();
    attention.tileRows = node.Get("tileRows").AsCount(1, 4096);
    attention.headDimStep = node.Get("headDimStep").AsCount(1, 4096);
    attention.forward = ReadPass(node.Get("forward"));
    attention.backward = ReadPass(node.Get("backward"));
    return attention;
}

MemoryKernelCalibration
ReadMemoryKernel(const YamlNode& node)
{
    node.CheckKeys(YamlKeysOf("gpu.kernels.memory.kernel"));
    node.Get("source").AsString();
    MemoryKernelCalibration kernel;
    kernel.efficiency = Share(node, "efficiency");
    double previous = 0;
    for (const YamlNode& item : node.Get("rates").Items())
    {
        item.CheckKeys(YamlKeysOf("gpu.kernels.memory.kernel.rates"));
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

LookupPass
ReadLookupPass(const YamlNode& node)
{
    constexpr double MAX_RATE = 1e4;
    node.CheckKeys(YamlKeysOf("gpu.kernels.lookups.pass"));
    LookupPass pass;
    pass.memoryEfficiency = Share(node, "memoryEfficiency");
    pass.l1Rate = node.Get("l1Rate").AsNumber(0, MAX_RATE);
    pass.l2Rate = BytesPerClock(node, "l2Rate");
    pass.addRate = node.Get("addRate").AsNumber(0, MAX_RATE);
    pass.conversions = node.Get("conversions").AsNumber(1, 100);
    pass.convertedLatency = node.Get("convertedLatency").AsNumber(1, 100);
    pass.sharpness = node.Get("sharpness").AsNumber(1, 100);
    pass.bagsAtOnce = node.Get("bagsAtOnce").AsNumber(1, 1e5);
    pass.rowLatency = node.Get("rowLatency").AsTime();
    pass.floor = node.Get("floor").AsTime();
    pass.hottestAdd = node.Get("hottestAdd").AsTime();
    pass.hottestPower = node.Get("hottestPower").AsNumber(0, 10);
    return pass;
}

LookupCalibration
ReadLookupCalibration(const YamlNode& node)
{
    node.CheckKeys(YamlKeysOf("gpu.kernels.lookups"));
    ReadSource(node);
    LookupCalibration lookups;
    lookups.l1Share = Share(node, "l1Share");
    lookups.l2Share = Share(node, "l2Share");
    lookups.narrowSumPasses = node.Get("narrowSumPasses").AsNumber(1, 4);
    lookups.forward = ReadLookupPass(node.Get("forward"));
    lookups.backward = ReadLookupPass(node.Get("backward"));
    return lookups;
}

OperatorCalibration
ReadOperatorCalibration(const YamlNode& node)
{
    node.CheckKeys(YamlKeysOf("gpu.kernels.operators"));
    OperatorCalibration read;
    const auto set = [&](const char* key, double min, double max, double& value) {
        value = ReadSourced(node.Get(key)).AsNumber(min, max);
    };
    set("batchNormForwardBlockRate", 0.01, 1e4, read.batchNormForwardBlockRate);
    set("batchNormBackwardBlockRate", 0.01, 1e4, read.batchNormBackwardBlockRate);
    set("batchNormBlocksPerSm", 1, 64, read.batchNormBlocksPerSm);
    set("maxPoolForward", 0.1, 100, read.maxPoolForward);
    set("maxPoolBackward", 0.1, 100, read.maxPoolBackward);
    set("columnSum", 0.1, 100, read.columnSum);
    set("trianglePick", 0.1, 100, read.trianglePick);
    set("trianglePutBytes", 1, 1e6, read.trianglePutBytes);
    set("transposedSum", 0.1, 100, read.transposedSum);
    set("sortPass", 0.1, 100, read.sortPass);
    set("tensorPower", 0, 100, read.tensorPower);
    set("copyBytesPerBlockPerClock", 0.01, 1e4, read.copyBytesPerBlockPerClock);
    set("reduceBytesPerBlockPerClock", 0.01, 1e4, read.reduceBytesPerBlockPerClock);
    return read;
}

/**
 * Reads the `kernels` of a GPU's description, complete (a base already merged). Each class of
 * kernels has its own `source`.
 * @throws InputError with the location of what is missing, unknown or out of range.
 */
KernelCalibration
ReadKernelCalibration(const YamlNode& node)
{
    node.CheckKeys(YamlKeysOf("gpu.kernels"));
    KernelCalibration kernels;
    kernels.measuredOn = node.Get("measuredOn").AsString();
    kernels.source = node.Get("source").AsString();
    kernels.gap = node.Get("gap").AsTime();
    kernels.fullLoadUtilization = Share(node, "fullLoadUtilization");
    kernels.gemm = ReadGemm(node.Get("gemm"));
    kernels.attention = ReadAttention(node.Get("attention"));
    const YamlNode memory = node.Get("memory");
    memory.CheckKeys(YamlKeysOf("gpu.kernels.memory"));
    for (const auto& [name, kernel] : MemoryKernelNames())
    {
        kernels.memory.push_back(ReadMemoryKernel(memory.Get("kernels").Get(name)));
    }
    kernels.lookups = ReadLookupCalibration(node.Get("lookups"));
    kernels.operators = ReadOperatorCalibration(node.Get("operators"));
    kernels.measured = ReadMeasuredShapes(node.Get("measured"));
    return kernels;
}

constexpr double MAX_SPREAD = 0.2; // six standard deviations stay above zero

/** Reads a clock lowered by the power limit: at most the boost clock. */
double
LoadedClock(const YamlNode& node, const char* key, double boostHz)
{
    const YamlNode value = ReadSourced(node.Get(key));
    const double hertz = value.AsHertz();
    if (!(hertz > 0) || hertz > boostHz)
    {
        value.FailExpected("a frequency above zero, at most the boost clock");
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

/** The PCI device IDs of a GPU in NCCL topology files. */
struct PciDevices
{
    std::vector<std::string> ids; //!< "0x2330"
    bool isTypical{false};        //!< stands for all GPUs of its compute capability
};

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

/** The file of a GPU, given by catalog name or file, without its base. */
YamlNode
OwnFileOf(const std::string& gpu, const Catalog& catalog)
{
    return YamlNode::Load(
        catalog.Find(CatalogKind::Gpus, YamlNode::ParseArgument(gpu, "topology")));
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
    std::vector<std::string> choices;
    for (const auto& [name, value] : PrecisionNames())
    {
        if (has(value))
        {
            choices.emplace_back(name);
        }
    }
    return std::string("found ") + NameOf(PrecisionNames(), precision) +
           ", expected one of: " + JoinNames(choices) + " (" + gpu.name +
           " supports no other for GEMMs)";
}

Gpu
ReadGpu(const YamlNode& node)
{
    node.CheckKeys(YamlKeysOf("gpu"));
    Gpu gpu;
    gpu.name = node.Get("name").AsString();
    gpu.computeCapability = node.Get("computeCapability").AsCount(60, 200);
    if (const auto devices = node.Find("pciDevices"))
    {
        ReadPciDevices(*devices);
    }
    gpu.sms = ReadSourced(node.Get("sms")).AsCount(1, 4096);
    const YamlNode boost = ReadSourced(node.Get("boostClock"));
    gpu.boostClockHz = boost.AsHertz();
    if (!(gpu.boostClockHz > 0))
    {
        boost.FailExpected("a frequency above zero");
    }
    gpu.burstTensorClockHz = LoadedClock(node, "burstTensorClock", gpu.boostClockHz);
    gpu.sustainedClockHz = LoadedClock(node, "sustainedClock", gpu.boostClockHz);
    if (gpu.burstTensorClockHz < gpu.sustainedClockHz)
    {
        const YamlNode burst = ReadSourced(node.Get("burstTensorClock"));
        burst.FailExpected("at least the sustained clock");
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

constexpr int MAX_BASES = 8; // in a chain

/** The file's map merged over that of its `base`, and its kernels over those of `kernels.base`. */
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

std::string
GpuOfDevice(const std::string& pciDevice, uint32_t computeCapability, const Catalog& catalog)
{
    std::string typical;
    for (const std::string& name : catalog.Names(CatalogKind::Gpus))
    {
        const YamlNode file = OwnFileOf(name, catalog);
        const auto devices = file.ReadOr("pciDevices", PciDevices(), ReadPciDevices);
        if (IsAmong(pciDevice, devices.ids))
        {
            return name;
        }
        if (devices.isTypical &&
            file.Get("computeCapability").AsCount(60, 200) == computeCapability)
        {
            typical = name;
        }
    }
    return typical;
}

std::string
PciDeviceOf(const std::string& gpu, const Catalog& catalog)
{
    const auto devices = OwnFileOf(gpu, catalog).ReadOr("pciDevices", PciDevices(), ReadPciDevices);
    return devices.ids.empty() ? "" : devices.ids.front();
}

} // namespace weir
