// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/topology/svg-canvas.h"

#include <array>
#include <cstdio>

namespace weir
{
namespace
{

/** A coordinate in pixels with one decimal. */
std::string
SvgNumber(double value)
{
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f", value);
    return text.data();
}

/** @p text with XML's reserved characters escaped as entities. */
std::string
SvgEscape(const std::string& text)
{
    std::string escaped;
    for (const char c : text)
    {
        switch (c)
        {
        case '&':
            escaped += "&amp;";
            break;
        case '<':
            escaped += "&lt;";
            break;
        case '>':
            escaped += "&gt;";
            break;
        default:
            escaped += c;
        }
    }
    return escaped;
}

std::string
TextElement(SvgPoint at,
            const std::string& text,
            double size,
            const std::string& anchor,
            const std::string& color)
{
    return "<text x=\"" + SvgNumber(at.x) + "\" y=\"" + SvgNumber(at.y) + "\" font-size=\"" +
           SvgNumber(size) + "\" text-anchor=\"" + anchor + "\" fill=\"" + color + "\">" +
           SvgEscape(text) + "</text>\n";
}

} // namespace

void
SvgCanvas::Line(SvgPoint a, SvgPoint b, double width, const std::string& color)
{
    m_lines += "<line x1=\"" + SvgNumber(a.x) + "\" y1=\"" + SvgNumber(a.y) + "\" x2=\"" +
               SvgNumber(b.x) + "\" y2=\"" + SvgNumber(b.y) + "\" stroke=\"" + color +
               "\" stroke-width=\"" + SvgNumber(width) + "\" stroke-opacity=\"0.8\"/>\n";
}

void
SvgCanvas::Arc(SvgPoint a, SvgPoint b, double rise, double width, const std::string& color)
{
    const double top = (a.y < b.y ? a.y : b.y) - rise;
    Curve(a, {a.x, top}, {b.x, top}, b, width, color);
}

void
SvgCanvas::SideArc(SvgPoint a, SvgPoint b, double reach, double width, const std::string& color)
{
    const double right = (a.x > b.x ? a.x : b.x) + reach;
    Curve(a, {right, a.y}, {right, b.y}, b, width, color);
}

void
SvgCanvas::Curve(
    SvgPoint a, SvgPoint towards, SvgPoint from, SvgPoint b, double width, const std::string& color)
{
    const auto text = [](SvgPoint point) { return SvgNumber(point.x) + " " + SvgNumber(point.y); };
    m_lines += "<path d=\"M " + text(a) + " C " + text(towards) + " " + text(from) + " " + text(b) +
               "\" fill=\"none\" stroke=\"" + color + "\" stroke-width=\"" + SvgNumber(width) +
               "\" stroke-opacity=\"0.8\"/>\n";
}

void
SvgCanvas::Box(
    SvgPoint centre, double width, double height, const std::string& fill, const std::string& word)
{
    constexpr double WORD_SIZE = 11;
    m_boxes += "<rect x=\"" + SvgNumber(centre.x - width / 2) + "\" y=\"" +
               SvgNumber(centre.y - height / 2) + "\" width=\"" + SvgNumber(width) +
               "\" height=\"" + SvgNumber(height) + "\" rx=\"3\" fill=\"" + fill +
               "\" stroke=\"#333333\" stroke-width=\"1\"/>\n";
    m_words +=
        TextElement({centre.x, centre.y + WORD_SIZE * 0.36}, word, WORD_SIZE, "middle", "#111111");
}

void
SvgCanvas::Frame(SvgPoint corner, double width, double height, const std::string& word)
{
    constexpr double WORD_SIZE = 12;
    m_frames += "<rect x=\"" + SvgNumber(corner.x) + "\" y=\"" + SvgNumber(corner.y) +
                "\" width=\"" + SvgNumber(width) + "\" height=\"" + SvgNumber(height) +
                "\" rx=\"8\" fill=\"#f7f7f4\" stroke=\"#999999\" stroke-width=\"1\"/>\n";
    m_words +=
        TextElement({corner.x + 8, corner.y + height - 8}, word, WORD_SIZE, "start", "#555555");
}

void
SvgCanvas::Text(SvgPoint at,
                const std::string& text,
                double size,
                const std::string& anchor,
                const std::string& color)
{
    m_words += TextElement(at, text, size, anchor, color);
}

std::string
SvgCanvas::Print(double width, double height) const
{
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + SvgNumber(width) +
           "\" height=\"" + SvgNumber(height) + "\" viewBox=\"0 0 " + SvgNumber(width) + " " +
           SvgNumber(height) + "\" font-family=\"DejaVu Sans, Helvetica, sans-serif\">\n" +
           "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n" + m_frames + m_lines +
           m_boxes + m_words + "</svg>\n";
}

} // namespace weir
