// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-gpu.h"

#include "compute-model/kernels/kernel-time.h"
#include "tests/scenarios/refusal.h"
#include "tests/scenarios/scratch-folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

namespace weir
{
namespace
{

std::string
PathOf(const std::string& name)
{
    return std::string(WEIR_SOURCE_DIR) + "/scenarios/gpus/" + name + ".yaml";
}

/** Refusal of the H200's file with one value replaced. */
std::string
RefusalWith(const std::string& path, const std::string& value)
{
    YamlNode node = YamlNode::Load(PathOf("h200-sxm"));
    node.Set(path, value);
    return RefusalOf([&] { ReadGpu(node); });
}

/** Path of every GPU of the catalog, by name. */
std::map<std::string, std::string>
GpuFiles()
{
    std::map<std::string, std::string> paths;
    const auto folder = std::filesystem::path(PathOf("any")).parent_path();
    for (const auto& entry : std::filesystem::directory_iterator(folder))
    {
        paths[entry.path().stem().string()] = entry.path().string();
    }
    return paths;
}

// The boost clock of an H100 is 1980 MHz, its datasheet's rate is at 1830 MHz.
TEST(ReadGpu, ReadsDatasheetFigures)
{
    const Gpu gpu = LoadGpu(PathOf("h100-sxm"));
    EXPECT_EQ(gpu.sms, 132U);
    EXPECT_EQ(gpu.computeCapability, 90U);
    EXPECT_NEAR(gpu.DatasheetPeak(Precision::Bf16).ToTeraFlops(), 989.4, 0.05);
    EXPECT_EQ(gpu.boostClockHz, 1.98e9);
    EXPECT_EQ(gpu.memoryRate, Rate::GBps(3350));
}

// Dense fp16 TFLOP/s of each datasheet. It is SMs x clock x FLOPs per SM and clock: 80 x 1530 MHz x
// 1024 for a V100, 108 x 1410 MHz x 2048 for an A100, 132 x 1830 MHz x 4096 for Hopper. Of an HGX
// B200 an eighth counts, of a GB200 NVL72 a 72nd, and of a DGX-2H (2.1 PFLOPS) a 16th.
TEST(ReadGpu, ReadsEveryGpuOfTheCatalog)
{
    const std::map<std::string, double> datasheets{{"a100-pcie-40g", 312},
                                                   {"a100-sxm-40g", 312},
                                                   {"a100-sxm-80g", 312},
                                                   {"a800-sxm-80g", 312},
                                                   {"b200-sxm", 18e3 / 8},
                                                   {"b300-sxm", 18e3 / 8},
                                                   {"gb200", 180e3 / 72},
                                                   {"gh200-96g", 989.4},
                                                   {"h100-sxm", 989.4},
                                                   {"h100-sxm-96g-500w", 989.4},
                                                   {"h200-sxm", 989.4},
                                                   {"h800-sxm", 989.4},
                                                   {"v100-sxm-16g", 125},
                                                   {"v100-sxm-32g", 125},
                                                   {"v100-sxm3-450w", 2.1e3 / 16}};
    const auto paths = GpuFiles();
    EXPECT_EQ(paths.size(), datasheets.size());
    for (const auto& [name, path] : paths)
    {
        SCOPED_TRACE(name);
        ASSERT_EQ(datasheets.count(name), 1U) << "a GPU without its datasheet's rate";
        const Gpu gpu = LoadGpu(path);
        EXPECT_EQ(gpu.name, name);
        EXPECT_NEAR(
            gpu.DatasheetPeak(Precision::Fp16).ToTeraFlops() / datasheets.at(name), 1, 0.003);
        EXPECT_GE(gpu.boostClockHz, gpu.datasheetClockHz);
        EXPECT_EQ(gpu.kernels.measuredOn, "h200-sxm");
        EXPECT_EQ(gpu.kernels.memory.size(), MEMORY_KERNEL_COUNT);
        EXPECT_FALSE(gpu.kernels.source.empty());
        EXPECT_FALSE(gpu.source.empty());
    }
}

// A file's own figures override its base's; all others are inherited.
TEST(ReadGpu, LaysOwnFiguresOverTheBase)
{
    const Gpu base = LoadGpu(PathOf("h200-sxm"));
    const Gpu own = LoadGpu(PathOf("a100-sxm-80g"));
    EXPECT_LT(own.kernels.gemm.tiles.size(), base.kernels.gemm.tiles.size());
    EXPECT_EQ(own.kernels.gemm.floor, base.kernels.gemm.floor);
    EXPECT_EQ(own.kernels.attention.kernel, "flash-2");
    EXPECT_EQ(own.kernels.attention.tileRows, base.kernels.attention.tileRows);
}

// A base may have a base: the V100 inherits the kernels before Hopper from the A100's file, which
// is based on the H200's measurements. The tile scheduler of the architecture is inherited, too.
TEST(ReadGpu, BasesStandOnBases)
{
    const Gpu older = LoadGpu(PathOf("a100-sxm-80g"));
    const Gpu oldest = LoadGpu(PathOf("v100-sxm-32g"));
    EXPECT_EQ(oldest.kernels.measuredOn, "h200-sxm");
    EXPECT_EQ(oldest.kernels.attention.kernel, older.kernels.attention.kernel);
    // Persistent kernels came with Hopper.
    for (const auto& [name, path] : GpuFiles())
    {
        const Gpu gpu = LoadGpu(path);
        const GemmCalibration& gemm = gpu.kernels.gemm;
        if (gpu.computeCapability < 90)
        {
            EXPECT_EQ(gemm.grid, GemmGrid::Classic) << name;
            EXPECT_EQ(gemm.DisplacedWaves(gemm.grid), 0) << name;
            EXPECT_EQ(gemm.ExposedEpilogue(gemm.grid), 1) << name;
        }
        else
        {
            EXPECT_EQ(gemm.grid, GemmGrid::Persistent) << name;
            EXPECT_EQ(gemm.DisplacedWaves(gemm.grid), gemm.displacedWaves) << name;
        }
    }
}

// A cycle of two files ends at no measured figures.
TEST(ReadGpu, RefusesBasesThatLeadBack)
{
    const ScratchFolder folder;
    for (const auto& [name, base] : {std::pair("a", "b"), std::pair("b", "a")})
    {
        std::ofstream(folder / (std::string(name) + ".yaml"))
            << "name: " << name << "\nkernels: {base: " << base << ".yaml, source: none}\n";
    }
    EXPECT_NE(RefusalOf([&] {
                  LoadGpu(folder / "a.yaml");
              }).find("expected bases that end at a GPU whose kernels were measured"),
              std::string::npos);
}

TEST(ReadGpu, RefusesWithLocationFoundAndExpected)
{
    EXPECT_NE(RefusalWith("sms.source", "\"\"").find("sms.source"), std::string::npos);
    EXPECT_NE(RefusalWith("sustainedClock.value", "3GHz").find("at most the boost clock"),
              std::string::npos);
    EXPECT_NE(RefusalWith("boostClock.value", "1980").find("boostClock.value"), std::string::npos);
    // The burst clock holds for the first milliseconds, before power lowers it to the sustained
    // clock.
    EXPECT_NE(RefusalWith("burstTensorClock.value", "1.3GHz")
                  .find("burstTensorClock.value: found '1.3GHz', expected at least the sustained"),
              std::string::npos);
    EXPECT_NE(RefusalWith("boostClock.value", "0GHz").find("found '0GHz', expected a frequency"),
              std::string::npos);
    for (const auto& [key, none] :
         {std::pair("memoryRate", "0GB/s"), std::pair("memory", "0GB"), std::pair("l2", "0MiB")})
    {
        const std::string refusal = RefusalWith(std::string(key) + ".value", none);
        EXPECT_NE(refusal.find(std::string(key) + ".value: found '" + none + "', expected a "),
                  std::string::npos)
            << refusal;
        EXPECT_NE(refusal.find("above zero"), std::string::npos) << refusal;
    }
    EXPECT_NE(RefusalWith("kernels.gemm.tiles", "[256by128]").find("such as 256x128"),
              std::string::npos);
    EXPECT_NE(RefusalWith("kernels.gemm.grid.value", "clasic").find("classic"), std::string::npos);
    EXPECT_NE(RefusalWith("kernels.gemm.tiles", "[]").find("at least one tile"), std::string::npos);
    EXPECT_NE(RefusalWith("kernels.gemm.memoryEfficiency", "1.2").find("memoryEfficiency"),
              std::string::npos);
    EXPECT_NE(RefusalWith("kernels.gemm.convolution.grid", "clasic").find("classic"),
              std::string::npos);
    EXPECT_NE(
        RefusalWith("kernels.measured.gemm.0.m", "[8]").find("the measured minimum and maximum"),
        std::string::npos);
    EXPECT_NE(RefusalWith("kernels.measured.attention.0.mask", "half").find("causal"),
              std::string::npos);
    EXPECT_NE(RefusalWith("kernels.measured.memory.dropuot", "{bytes: [1, 2]}").find("'dropout'"),
              std::string::npos);
    EXPECT_NE(RefusalWith("kernels.gemm.florr", "1us").find("florr"), std::string::npos);
    EXPECT_NE(RefusalWith("kernels.memory.kernels.softmaxForward.rates.1.rowBytes", "1")
                  .find("more than the row before"),
              std::string::npos);
}

TEST(ReadGpu, RefusesAMissingFileByItsPath)
{
    EXPECT_NE(RefusalOf([] { LoadGpu(PathOf("no-such-gpu")); }).find("no-such-gpu"),
              std::string::npos);
}

} // namespace
} // namespace weir
