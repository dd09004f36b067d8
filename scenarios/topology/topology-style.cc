// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/topology/topology-style.h"

#include "scenarios/results/text-table.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace weir
{
namespace
{

constexpr double WIDTH_OF_ONE = 0.45; //!< pixels, of a line of 1 GB/s

constexpr const char* NVLINK = "#2f9e44";
constexpr const char* PCIE = "#2f6db5";
constexpr const char* BETWEEN_SOCKETS = "#8e44ad";
constexpr const char* NETWORK = "#d9822b";

} // namespace

const char*
ColorOf(LinkKind kind)
{
    switch (kind)
    {
    case LinkKind::NvLink:
        return NVLINK;
    case LinkKind::Pcie:
        return PCIE;
    case LinkKind::InterSocket:
        return BETWEEN_SOCKETS;
    case LinkKind::Network:
        break;
    }
    return NETWORK;
}

const char*
FillOf(DeviceKind kind)
{
    switch (kind)
    {
    case DeviceKind::Gpu:
        return "#c8e6c9";
    case DeviceKind::NvSwitch:
        return "#a5d6a7";
    case DeviceKind::PcieSwitch:
        return "#bbdefb";
    case DeviceKind::RootComplex:
        return "#d7c4e8";
    case DeviceKind::Nic:
        return "#ffe0b2";
    default:
        return "#ffcc80";
    }
}

double
LineWidth(Rate rate)
{
    return std::max(0.7, WIDTH_OF_ONE * std::sqrt(rate.ToGBps()));
}

std::string
GpuWord(const std::string& gpuModel)
{
    return gpuModel.find('/') == std::string::npos
               ? gpuModel
               : std::filesystem::path(gpuModel).stem().string();
}

std::string
RateWord(Rate rate)
{
    return FormatFixed(rate.ToGBps(), 1) + " GB/s";
}

} // namespace weir
