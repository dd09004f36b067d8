// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-fabric.h"
#include "scenarios/yaml/nearest-name.h"

#include <cctype>
#include <optional>

namespace weir
{
namespace
{

constexpr uint64_t MOST_POINTS = 1 << 24;

/** "ring" of "Ring(4)". */
std::string
LowerCase(const std::string& text)
{
    std::string lower;
    for (const char c : text)
    {
        lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return lower;
}

std::optional<DimensionKind>
KindNamed(const std::string& name)
{
    for (const auto& [word, kind] : {std::pair{"ring", DimensionKind::Ring},
                                     std::pair{"r", DimensionKind::Ring},
                                     std::pair{"fullyconnected", DimensionKind::FullyConnected},
                                     std::pair{"fc", DimensionKind::FullyConnected},
                                     std::pair{"switch", DimensionKind::Switch},
                                     std::pair{"sw", DimensionKind::Switch}})
    {
        if (LowerCase(name) == word)
        {
            return kind;
        }
    }
    return std::nullopt;
}

/** One after another the words, numbers and signs of a text. */
class Words
{
  public:
    explicit Words(const std::string& text)
        : m_text(text)
    {
    }

    std::string Letters()
    {
        return Take([](unsigned char c) { return std::isalpha(c) != 0; });
    }

    std::string Digits()
    {
        return Take([](unsigned char c) { return std::isdigit(c) != 0; });
    }

    bool Sign(const char* signs)
    {
        Skip();
        const bool found =
            m_at < m_text.size() && std::string(signs).find(m_text[m_at]) != std::string::npos;
        m_at += found;
        return found;
    }

    bool IsAtEnd()
    {
        Skip();
        return m_at == m_text.size();
    }

  private:
    void Skip()
    {
        while (m_at < m_text.size() && m_text[m_at] == ' ')
        {
            m_at++;
        }
    }

    template <typename Is>
    std::string Take(const Is& is)
    {
        Skip();
        const std::size_t first = m_at;
        while (m_at < m_text.size() && is(static_cast<unsigned char>(m_text[m_at])))
        {
            m_at++;
        }
        return m_text.substr(first, m_at - first);
    }

    const std::string& m_text;
    std::size_t m_at{0};
};

} // namespace

std::vector<FabricDimension>
ReadDimensionText(const YamlNode& node)
{
    const std::string text = node.AsString();
    const auto fail = [&](const std::string& why) {
        node.Fail("found '" + text + "', " + why +
                  "expected dimensions like Ring(4) x FullyConnected(8) x Switch(2)");
    };
    std::vector<FabricDimension> dimensions;
    uint64_t points = 1;
    for (Words words(text); dimensions.empty() || !words.IsAtEnd();)
    {
        if (!dimensions.empty() && !words.Sign("xX*_"))
        {
            fail("");
        }
        FabricDimension dimension;
        const std::string name = words.Letters();
        if (!name.empty())
        {
            const auto kind = KindNamed(name);
            if (!kind)
            {
                fail("with the unknown shape '" + name + "'" +
                     DidYouMean(name, {"Ring", "FullyConnected", "Switch"}) + ", ");
            }
            dimension.kind = *kind;
        }
        const bool isOpen = !name.empty() && words.Sign("(");
        const std::string digits = words.Digits();
        if (digits.empty() || digits.size() > 7 || (!name.empty() && !isOpen) ||
            (isOpen && !words.Sign(")")))
        {
            fail("");
        }
        dimension.size = static_cast<uint32_t>(std::stoul(digits));
        points *= dimension.size;
        if (points == 0 || points > MOST_POINTS)
        {
            fail("with a size of 0 or more than 16777216 places in all, ");
        }
        dimensions.push_back(dimension);
    }
    return dimensions;
}

} // namespace weir
