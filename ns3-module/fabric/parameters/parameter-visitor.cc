// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/parameters/parameter-visitor.h"

#include <sstream>
#include <stdexcept>

namespace weir
{
namespace
{

template <typename T>
T
Plain(T value)
{
    return value;
}

double
Plain(Time value)
{
    return value.ToSeconds();
}

int64_t
Plain(Bytes value)
{
    return value.Count();
}

double
Plain(Rate value)
{
    return value.ToBytesPerSecond();
}

/** Throws unless a parameter is in its range. */
struct RangeCheck
{
    std::string key; //!< "fabric.levels"

    template <typename T>
    void operator()(const RangedParameter<T>& parameter) const
    {
        const char* unit = std::is_same_v<T, Time>    ? " s"
                           : std::is_same_v<T, Bytes> ? " B"
                           : std::is_same_v<T, Rate>  ? " B/s"
                                                      : "";
        const auto& [value, range] = parameter;
        if (value >= range.minimum && value <= range.maximum) // not: a number that is none
        {
            return;
        }
        std::ostringstream text;
        text << key << ": " << Plain(value) << unit << ", expected " << Plain(range.minimum)
             << " to " << Plain(range.maximum) << unit;
        throw std::invalid_argument(text.str());
    }

    void operator()(const OptionalCountParameter& count) const
    {
        if (count.value)
        {
            (*this)(CountParameter{*count.value, count.range});
        }
    }

    void operator()(const CountsParameter& counts) const
    {
        for (std::size_t i = 0; i < counts.value.size(); i++)
        {
            RangeCheck{key + "." +
                       std::to_string(i)}(CountParameter{counts.value[i], counts.range});
        }
    }

    template <typename T>
    void operator()(const T&) const // has no range
    {
    }
};

} // namespace

std::vector<std::string>
KeysOf(Parameterized& component)
{
    std::vector<std::string> keys;
    ForEachParameter(component, [&](const ParameterInfo& info, const Parameter&) {
        keys.emplace_back(info.key);
    });
    return keys;
}

void
CheckRanges(Parameterized& component, const std::string& field)
{
    ForEachParameter(component, [&](const ParameterInfo& info, const Parameter& parameter) {
        std::visit(RangeCheck{field + "." + info.key}, parameter);
    });
}

} // namespace weir
