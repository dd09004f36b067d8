// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/collective.h"

#include "fabric/enum-names.h"

namespace weir
{

namespace
{

constexpr EnumName<CollectiveOp> OP_NAMES[]{
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
};

constexpr EnumName<Algorithm> ALGORITHM_NAMES[]{
    {Algorithm::Ring, "ring"},
    {Algorithm::Tree, "tree"},
    {Algorithm::CollNetDirect, "collnet-direct"},
    {Algorithm::CollNetChain, "collnet-chain"},
    {Algorithm::Nvls, "nvls"},
    {Algorithm::NvlsTree, "nvls-tree"},
    {Algorithm::Pat, "pat"},
    {Algorithm::PointToPoint, "point-to-point"},
    {Algorithm::Symmetric, "symmetric"},
    {Algorithm::Imported, "imported"},
    {Algorithm::DimensionWise, "dimension-wise"},
};

constexpr EnumName<Protocol> PROTOCOL_NAMES[]{
    {Protocol::Ll, "ll"},
    {Protocol::Ll128, "ll128"},
    {Protocol::Simple, "simple"},
};

} // namespace

const char*
ToString(CollectiveOp op)
{
    return NameIn(OP_NAMES, op);
}

const char*
ToString(Algorithm algorithm)
{
    return NameIn(ALGORITHM_NAMES, algorithm);
}

const char*
ToString(Protocol protocol)
{
    return NameIn(PROTOCOL_NAMES, protocol);
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
