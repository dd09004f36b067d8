// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/yaml/names.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace weir
{

namespace
{

char
Lower(char c)
{
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

/** Whether both texts share a prefix of 3/4 of the shorter one: "recompute" and "recomputation". */
bool
BeginAlike(const std::string& a, const std::string& b)
{
    constexpr std::size_t MIN_LETTERS = 3; // minimum length of a meaningful prefix
    const std::size_t shorter = std::min(a.size(), b.size());
    std::size_t same = 0;
    while (same < shorter && Lower(a[same]) == Lower(b[same]))
    {
        ++same;
    }
    return same >= MIN_LETTERS && 4 * same >= 3 * shorter;
}

} // namespace

std::size_t
EditDistance(const std::string& a, const std::string& b)
{
    const std::size_t width = b.size() + 1;
    std::vector<std::size_t> cost((a.size() + 1) * width); // cost of turning a[0, i) into b[0, j)
    for (std::size_t i = 0; i <= a.size(); ++i)
    {
        for (std::size_t j = 0; j <= b.size(); ++j)
        {
            std::size_t& here = cost[i * width + j];
            if (i == 0 || j == 0)
            {
                here = i + j;
                continue;
            }
            const bool same = Lower(a[i - 1]) == Lower(b[j - 1]);
            here = std::min({cost[(i - 1) * width + j] + 1,
                             cost[i * width + j - 1] + 1,
                             cost[(i - 1) * width + j - 1] + (same ? 0 : 1)});
            if (i > 1 && j > 1 && Lower(a[i - 1]) == Lower(b[j - 2]) &&
                Lower(a[i - 2]) == Lower(b[j - 1]))
            {
                here = std::min(here, cost[(i - 2) * width + j - 2] + 1);
            }
        }
    }
    return cost.back();
}

std::string
NearestName(const std::string& wrong, const std::vector<std::string>& names)
{
    std::string nearest;
    std::size_t min = 0;
    for (const std::string& name : names)
    {
        const std::size_t longer = std::max(wrong.size(), name.size());
        const std::size_t allowed = std::min(std::max<std::size_t>(longer / 3, 2), longer / 2);
        const std::size_t distance = EditDistance(wrong, name);
        if ((distance <= allowed || BeginAlike(wrong, name)) && (nearest.empty() || distance < min))
        {
            nearest = name;
            min = distance;
        }
    }
    return nearest;
}

std::string
DidYouMean(const std::string& wrong, const std::vector<std::string>& names)
{
    const std::string nearest = NearestName(wrong, names);
    return nearest.empty() ? "" : " (did you mean '" + nearest + "'?)";
}

bool
IsAmong(const std::string& name, const std::vector<std::string>& names)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::string
JoinNames(const std::vector<std::string>& names, const std::string& between)
{
    std::string joined;
    for (const std::string& name : names)
    {
        joined += (joined.empty() ? "" : between) + name;
    }
    return joined;
}

std::string
JoinChoices(const std::vector<std::string>& names)
{
    std::string joined;
    for (std::size_t i = 0; i < names.size(); i++)
    {
        joined += (i == 0 ? "" : i + 1 < names.size() ? ", " : " or ") + names[i];
    }
    return joined;
}

std::vector<std::string>
SplitText(const std::string& text, char separator)
{
    std::vector<std::string> parts(1);
    for (const char c : text)
    {
        if (c == separator)
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

std::string
LowerCase(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(), Lower);
    return text;
}

std::string
NormalizedName(const std::string& text)
{
    std::string plain;
    std::copy_if(text.begin(), text.end(), std::back_inserter(plain), [](unsigned char letter) {
        return std::isalnum(letter) != 0;
    });
    return LowerCase(plain);
}

} // namespace weir
