// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/gpu-precisions.h"

#include "scenarios/readers/scenario-names.h"

namespace weir
{

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

} // namespace weir
