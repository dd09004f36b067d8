// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/sweep/process-share.h"

#include "scenarios/yaml/input-error.h"

#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

namespace weir
{
namespace
{

std::optional<std::size_t>
NumberIn(const char* begin, const char* end)
{
    std::size_t number = 0;
    const auto read = std::from_chars(begin, end, number);
    return read.ec == std::errc() && read.ptr == end ? std::optional(number) : std::nullopt;
}

std::optional<std::size_t>
NumberIn(const char* text)
{
    return text == nullptr ? std::nullopt : NumberIn(text, text + std::strlen(text));
}

} // namespace

ProcessShare
ShareOfProcess(const std::function<const char*(const char*)>& variable)
{
    constexpr std::pair<const char*, const char*> STARTERS[] = {
        {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
        {"PMI_RANK", "PMI_SIZE"},
        {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};
    for (const auto& [index, count] : STARTERS)
    {
        const auto own = NumberIn(variable(index));
        const auto all = NumberIn(variable(count));
        if (own && all && *own < *all)
        {
            return {*own, *all};
        }
    }
    return {};
}

ProcessShare
ParseShare(const std::string& text)
{
    const char* begin = text.data();
    const char* end = begin + text.size();
    const auto slash = text.find('/');
    if (slash != std::string::npos)
    {
        const auto own = NumberIn(begin, begin + slash);
        const auto all = NumberIn(begin + slash + 1, end);
        if (own && all && *own >= 1 && *own <= *all)
        {
            return {*own - 1, *all};
        }
    }
    throw InputError("--share: found '" + text + "', expected one of all, such as 2/8");
}

} // namespace weir
