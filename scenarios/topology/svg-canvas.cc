// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/topology/svg-canvas.h"

#include "scenarios/text-table.h"

namespace weir
{
namespace
{

std::string
Number(double value)
{
    std::string text = FormatFixed(value, 1);
    std::string plain;
    for (const char c : text)
    {
        if (c != ',')
        {
            plain += c;
        }
    }
    return plain;
}

std::string
Escape(const std::string& text)
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
    return "<text x=\"" + Number(at.x) + "\" y=\"" + Number(at.y) + "\" font-size=\"" +
           Number(size) + "\" text-anchor=\"" + anchor + "\" fill=\"" + color + "\">" +
           Escape(text) + "</text>\n";
}

} // namespace

void
SvgCanvas::Line(SvgPoint a, SvgPoint b, double width, const std::string& color)
{
    m_lines += "<line x1=\"" + Number(a.x) + "\" y1=\"" + Number(a.y) + "\" x2=\"" + Number(b.x) +
               "\" y2=\"" + Number(b.y) + "\" stroke=\"" + color + "\" stroke-width=\"" +
               Number(width) + "\" stroke-opacity=\"0.8\"/>\n";
}

void
SvgCanvas::Arc(SvgPoint a, SvgPoint b, double rise, double width, const std::string& color)
{
    const double top = (a.y < b.y ? a.y : b.y) - rise;
    m_lines += "<path d=\"M " + Number(a.x) + " " + Number(a.y) + " C " + Number(a.x) + " " +
               Number(top) + " " + Number(b.x) + " " + Number(top) + " " + Number(b.x) + " " +
               Number(b.y) + "\" fill=\"none\" stroke=\"" + color + "\" stroke-width=\"" +
               Number(width) + "\" stroke-opacity=\"0.8\"/>\n";
}

void
SvgCanvas::Box(
    SvgPoint centre, double width, double height, const std::string& fill, const std::string& word)
{
    constexpr double WORD_SIZE = 11;
    m_boxes += "<rect x=\"" + Number(centre.x - width / 2) + "\" y=\"" +
               Number(centre.y - height / 2) + "\" width=\"" + Number(width) + "\" height=\"" +
               Number(height) + "\" rx=\"3\" fill=\"" + fill +
               "\" stroke=\"#333333\" stroke-width=\"1\"/>\n";
    m_words +=
        TextElement({centre.x, centre.y + WORD_SIZE * 0.36}, word, WORD_SIZE, "middle", "#111111");
}

void
SvgCanvas::Frame(SvgPoint corner, double width, double height, const std::string& word)
{
    constexpr double WORD_SIZE = 12;
    m_frames += "<rect x=\"" + Number(corner.x) + "\" y=\"" + Number(corner.y) + "\" width=\"" +
                Number(width) + "\" height=\"" + Number(height) +
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
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + Number(width) + "\" height=\"" +
           Number(height) + "\" viewBox=\"0 0 " + Number(width) + " " + Number(height) +
           "\" font-family=\"DejaVu Sans, Helvetica, sans-serif\">\n" +
           "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n" + m_frames + m_lines +
           m_boxes + m_words + "</svg>\n";
}

} // namespace weir
