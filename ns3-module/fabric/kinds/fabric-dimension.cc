// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/fabric-dimension.h"

#include <cctype>
#include <optional>
#include <utility>

namespace weir
{

namespace
{

constexpr uint64_t MAX_POINTS = 1 << 24;

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

/** A scanner that splits a text into words, numbers and signs. */
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

    /** Consumes @p word if it is next. @return whether it was */
    bool Word(const std::string& word)
    {
        Skip();
        const bool found = m_text.compare(m_at, word.size(), word) == 0;
        m_at += found ? word.size() : 0;
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

FabricDimension
ParseDimension(Words& words)
{
    FabricDimension dimension;
    const std::string name = words.Letters();
    if (!name.empty())
    {
        const auto kind = KindNamed(name);
        if (!kind)
        {
            throw DimensionTextError("with the unknown shape '" + name + "'", name);
        }
        dimension.kind = *kind;
    }
    constexpr std::size_t MAX_DIGITS = 7; // one less than MAX_POINTS has
    const bool isOpen = !name.empty() && words.Sign("(");
    const std::string digits = words.Digits();
    if (digits.empty() || digits.size() > MAX_DIGITS || (!name.empty() && !isOpen) ||
        (isOpen && !words.Sign(")")))
    {
        throw DimensionTextError("", "");
    }
    dimension.size = static_cast<uint32_t>(std::stoul(digits));
    return dimension;
}

} // namespace

std::vector<FabricDimension>
ParseDimensions(const std::string& text)
{
    std::vector<FabricDimension> dimensions;
    uint64_t points = 1;
    for (Words words(text); dimensions.empty() || !words.IsAtEnd();)
    {
        if (!dimensions.empty() && !words.Sign("xX*_"))
        {
            throw DimensionTextError("", "");
        }
        dimensions.push_back(ParseDimension(words));
        const bool isFirst = dimensions.size() == 1;
        dimensions.back().isInside = isFirst && (words.Word(", inside") || words.Word("inside"));
        points *= dimensions.back().size;
        if (points == 0 || points > MAX_POINTS)
        {
            throw DimensionTextError("with a size of 0 or more than " + std::to_string(MAX_POINTS) +
                                         " routers in total",
                                     "");
        }
    }
    return dimensions;
}

std::string
ToString(const FabricDimension& dimension)
{
    const char* shape = dimension.kind == DimensionKind::Ring             ? "Ring("
                        : dimension.kind == DimensionKind::FullyConnected ? "FullyConnected("
                                                                          : "Switch(";
    return shape + std::to_string(dimension.size) + ")";
}

} // namespace weir
