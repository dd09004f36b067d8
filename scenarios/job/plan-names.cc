// SPDX-License-Identifier: GPL-2.0-only
#include "plan-names.h"

#include "scenarios/readers/scenario-names.h"

#include "ns3/abort.h"

#include <cmath>
#include <cstdlib>

namespace ns3
{

namespace
{

/** The value of that name among @p choices. */
template <typename E>
E
ChoiceOf(const weir::NamedChoices<E>& choices, const std::string& name, const char* attribute)
{
    std::string expected;
    for (const auto& [text, value] : choices)
    {
        if (name == text)
        {
            return value;
        }
        expected += std::string(expected.empty() ? "" : ", ") + text;
    }
    NS_ABORT_MSG("TrainingJob: " << attribute << " is '" << name
                                 << "', expected one of: " << expected);
}

} // namespace

weir::Precision
ParsePrecision(const std::string& name)
{
    return ChoiceOf(weir::PrecisionNames(), name, "Precision");
}

weir::JitterScope
ParseJitterScope(const std::string& name)
{
    return ChoiceOf(weir::JitterScopeNames(), name, "JitterPer");
}

weir::OverlapPolicy
ParseOverlap(const std::string& text)
{
    if (text == "modeled" || text == "off")
    {
        return {text == "off" ? weir::OverlapKind::Off : weir::OverlapKind::Modeled, 1};
    }
    char* end = nullptr;
    const double factor = std::strtod(text.c_str(), &end);
    NS_ABORT_MSG_IF(text.empty() || *end != '\0' || !(factor >= 1) || std::isinf(factor),
                    "TrainingJob: OverlapSlowdown is '"
                        << text << "', expected modeled, off or a factor of at least 1");
    return {weir::OverlapKind::Constant, factor};
}

} // namespace ns3
