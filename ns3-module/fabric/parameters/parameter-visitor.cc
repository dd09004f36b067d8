// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/parameters/parameter-visitor.h"

#include "fabric/refuse.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <type_traits>

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

/** Checks that a parameter is in its range; throws std::invalid_argument if not. */
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
        WEIR_REFUSE_IF(!(value >= range.minimum && value <= range.maximum), // also NaN
                       key << ": " << Plain(value) << unit << ", expected " << Plain(range.minimum)
                           << " to " << Plain(range.maximum) << unit);
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
    void operator()(const T&) const // no range
    {
    }
};

/** The value of a parameter, for comparison and copying. */
template <typename T>
T&
ValueOf(const PlainParameter<T>& parameter)
{
    return parameter.value;
}

template <typename T, typename R>
T&
ValueOf(const RangedParameter<T, R>& parameter)
{
    return parameter.value;
}

std::size_t&
ValueOf(const ChoiceParameter& choice)
{
    return choice.index;
}

std::vector<uint32_t>&
ValueOf(const SelectionParameter& selection)
{
    return selection.indices;
}

/** Calls @p function(key, a, b) with the values of every parameter of two components. */
template <typename F>
void
ForEachPair(Parameterized& component, Parameterized& other, const F& function)
{
    ForEachParameter(component, [&](const ParameterInfo& info, const Parameter& a) {
        ForEachParameter(other, [&](const ParameterInfo& otherInfo, const Parameter& b) {
            if (std::string_view(info.key) != otherInfo.key)
            {
                return;
            }
            const auto compare = [&](const auto& one) {
                using P = std::decay_t<decltype(one)>;
                if constexpr (std::is_same_v<P, LinkParameter> ||
                              std::is_same_v<P, DimensionsParameter> ||
                              std::is_same_v<P, GraphParameter>)
                {
                    throw std::invalid_argument(std::string(info.key) + ": is not compared");
                }
                else
                {
                    function(info.key, ValueOf(one), ValueOf(std::get<P>(b)));
                }
            };
            std::visit(compare, a);
        });
    });
}

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

std::vector<std::string>
ChangedKeys(Parameterized& component, Parameterized& other)
{
    std::vector<std::string> keys;
    ForEachPair(component, other, [&](const char* key, const auto& a, const auto& b) {
        if (a != b)
        {
            keys.emplace_back(key);
        }
    });
    return keys;
}

void
ReplaceUnchanged(Parameterized& component, Parameterized& before, Parameterized& after)
{
    const std::vector<std::string> changed = ChangedKeys(component, before);
    ForEachPair(component, after, [&](const char* key, auto& value, const auto& next) {
        if (std::find(changed.begin(), changed.end(), key) == changed.end())
        {
            value = next;
        }
    });
}

void
CheckRanges(Parameterized& component, const std::string& field)
{
    ForEachParameter(component, [&](const ParameterInfo& info, const Parameter& parameter) {
        std::visit(RangeCheck{field + "." + info.key}, parameter);
    });
}

} // namespace weir
