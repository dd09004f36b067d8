// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl/nccl-filter.h"

#include <cctype>
#include <stdexcept>
#include <utility>
#include <vector>

namespace weir
{

std::string
NormalizedNcclName(const std::string& name)
{
    std::string text;
    for (const char c : name)
    {
        if (c != '-' && c != '_')
        {
            text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
    }
    return text;
}

namespace
{

constexpr uint32_t ALL = ~uint32_t{0};
constexpr CollectiveOp NAMED_OPS[] = {CollectiveOp::AllReduce,
                                      CollectiveOp::AllGather,
                                      CollectiveOp::ReduceScatter,
                                      CollectiveOp::Broadcast,
                                      CollectiveOp::Reduce};

/** Normalized names with their numbers. */
using Names = std::vector<std::pair<std::string, std::size_t>>;

template <typename Enum>
std::pair<std::string, std::size_t>
Named(Enum value)
{
    return {NormalizedNcclName(ToString(value)), static_cast<std::size_t>(value)};
}

std::vector<std::string>
SplitAt(const std::string& text, char divider)
{
    std::vector<std::string> parts{""};
    for (const char c : text)
    {
        if (c == divider)
        {
            parts.emplace_back();
        }
        else
        {
            parts.back() += c;
        }
    }
    return parts;
}

std::size_t
Find(const std::string& name, const Names& names, const char* what)
{
    std::string expected;
    for (const auto& [known, number] : names)
    {
        if (known == NormalizedNcclName(name))
        {
            return number;
        }
        expected += (expected.empty() ? "" : ", ") + known;
    }
    throw std::invalid_argument("found '" + name + "', expected " + what + ": " + expected);
}

/** A bit for each name of a list, or for all others if the list begins with ^. */
uint32_t
MaskOf(const std::string& list, const Names& names)
{
    const bool isInverted = !list.empty() && list.front() == '^';
    uint32_t mask = 0;
    for (const std::string& name : SplitAt(list.substr(isInverted ? 1 : 0), ','))
    {
        mask |= uint32_t{1} << Find(name, names, "one of");
    }
    return isInverted ? ~mask : mask;
}

template <typename Masks>
Masks
MasksOf(const std::string& text, const Names& names)
{
    Names ops;
    for (const CollectiveOp op : NAMED_OPS)
    {
        ops.push_back(Named(op));
    }
    Masks masks;
    masks.fill(ALL);
    bool isFirst = true;
    for (const std::string& part : SplitAt(text, ';'))
    {
        const std::size_t colon = part.find(':');
        if (colon != std::string::npos)
        {
            masks.at(Find(part.substr(0, colon), ops, "an operation")) =
                MaskOf(part.substr(colon + 1), names);
        }
        else if (isFirst)
        {
            const uint32_t mask = MaskOf(part, names);
            for (const auto& op : ops)
            {
                masks.at(op.second) = mask;
            }
        }
        else
        {
            throw std::invalid_argument("found '" + part +
                                        "', expected an operation and a colon before it");
        }
        isFirst = false;
    }
    return masks;
}

} // namespace

NcclFilter::NcclFilter()
{
    m_algorithms.fill(ALL);
    m_protocols.fill(ALL);
}

void
NcclFilter::SetAlgorithms(const std::string& text)
{
    Names names;
    for (const Algorithm algorithm : {Algorithm::Ring,
                                      Algorithm::Tree,
                                      Algorithm::CollNetDirect,
                                      Algorithm::CollNetChain,
                                      Algorithm::Nvls,
                                      Algorithm::NvlsTree,
                                      Algorithm::Pat})
    {
        names.push_back(Named(algorithm));
    }
    m_algorithms = MasksOf<Masks>(text, names);
    m_algorithmsText = text;
}

void
NcclFilter::SetProtocols(const std::string& text)
{
    m_protocols = MasksOf<Masks>(
        text, {Named(Protocol::Ll), Named(Protocol::Ll128), Named(Protocol::Simple)});
    m_protocolsText = text;
}

bool
NcclFilter::Allows(CollectiveOp op, Algorithm algorithm) const
{
    return (m_algorithms[static_cast<std::size_t>(op)] >> static_cast<uint32_t>(algorithm) & 1) !=
           0;
}

bool
NcclFilter::Allows(CollectiveOp op, Protocol protocol) const
{
    return (m_protocols[static_cast<std::size_t>(op)] >> static_cast<uint32_t>(protocol) & 1) != 0;
}

} // namespace weir
