// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/collective.h"

#include <array>
#include <utility>

namespace weir
{

namespace
{

constexpr std::array<std::pair<CollectiveOp, const char*>, 10> OP_NAMES{{
    {CollectiveOp::AllReduce, "all-reduce"},
    {CollectiveOp::AllGather, "all-gather"},
    {CollectiveOp::ReduceScatter, "reduce-scatter"},
    {CollectiveOp::Broadcast, "broadcast"},
    {CollectiveOp::Reduce, "reduce"},
    {CollectiveOp::AllToAll, "all-to-all"},
    {CollectiveOp::Gather, "gather"},
    {CollectiveOp::Scatter, "scatter"},
    {CollectiveOp::SendRecv, "send-recv"},
    {CollectiveOp::Send, "send"},
}};

constexpr std::array<std::pair<Algorithm, const char*>, 10> ALGORITHM_NAMES{{
    {Algorithm::Ring, "ring"},
    {Algorithm::Tree, "tree"},
    {Algorithm::CollNetDirect, "collnet-direct"},
    {Algorithm::CollNetChain, "collnet-chain"},
    {Algorithm::Nvls, "nvls"},
    {Algorithm::NvlsTree, "nvls-tree"},
    {Algorithm::Pat, "pat"},
    {Algorithm::PointToPoint, "point-to-point"},
    {Algorithm::Imported, "imported"},
    {Algorithm::DimensionWise, "dimension-wise"},
}};

constexpr std::array<std::pair<Protocol, const char*>, 3> PROTOCOL_NAMES{{
    {Protocol::Ll, "ll"},
    {Protocol::Ll128, "ll128"},
    {Protocol::Simple, "simple"},
}};

template <typename Names, typename Enum>
const char*
NameOf(const Names& names, Enum value)
{
    for (const auto& [each, name] : names)
    {
        if (each == value)
        {
            return name;
        }
    }
    return "?";
}

template <typename Enum, std::size_t N>
std::optional<Enum>
Parse(const std::array<std::pair<Enum, const char*>, N>& names, const std::string& text)
{
    for (const auto& [each, name] : names)
    {
        if (text == name)
        {
            return each;
        }
    }
    return std::nullopt;
}

} // namespace

const char*
ToString(CollectiveOp op)
{
    return NameOf(OP_NAMES, op);
}

const char*
ToString(Algorithm algorithm)
{
    return NameOf(ALGORITHM_NAMES, algorithm);
}

const char*
ToString(Protocol protocol)
{
    return NameOf(PROTOCOL_NAMES, protocol);
}

std::optional<CollectiveOp>
ParseCollectiveOp(const std::string& name)
{
    return Parse(OP_NAMES, name);
}

std::optional<Algorithm>
ParseAlgorithm(const std::string& name)
{
    return Parse(ALGORITHM_NAMES, name);
}

std::optional<Protocol>
ParseProtocol(const std::string& name)
{
    return Parse(PROTOCOL_NAMES, name);
}

double
BusBandwidthFactor(CollectiveOp op, uint32_t ranks)
{
    const double n = ranks;
    switch (op)
    {
    case CollectiveOp::AllReduce:
        return 2 * (n - 1) / n;
    case CollectiveOp::AllGather:
    case CollectiveOp::ReduceScatter:
    case CollectiveOp::AllToAll:
    case CollectiveOp::Gather:
    case CollectiveOp::Scatter:
        return (n - 1) / n;
    case CollectiveOp::Broadcast:
    case CollectiveOp::Reduce:
    case CollectiveOp::SendRecv:
    case CollectiveOp::Send:
        break;
    }
    return 1;
}

} // namespace weir
