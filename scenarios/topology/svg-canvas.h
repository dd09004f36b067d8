// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_SVG_CANVAS_H
#define WEIR_SCENARIOS_TOPOLOGY_SVG_CANVAS_H

#include <string>

namespace weir
{

/** A place in a drawing, in pixels, y downwards. */
struct SvgPoint
{
    double x{0};
    double y{0};
};

/** Collects lines, boxes and words, and writes them as one SVG document. */
class SvgCanvas
{
  public:
    void Line(SvgPoint a, SvgPoint b, double width, const std::string& color);

    /** From @p a to @p b, bent away by @p rise pixels upwards. */
    void Arc(SvgPoint a, SvgPoint b, double rise, double width, const std::string& color);

    /** From @p a to @p b, bent away by @p reach pixels to the right. */
    void SideArc(SvgPoint a, SvgPoint b, double reach, double width, const std::string& color);

    /** A box around its centre, with a word in it. */
    void Box(SvgPoint centre,
             double width,
             double height,
             const std::string& fill,
             const std::string& word);

    /** A frame from its upper left corner. */
    void Frame(SvgPoint corner, double width, double height, const std::string& word);

    /** @p anchor is start, middle or end; @p size in pixels. */
    void Text(SvgPoint at,
              const std::string& text,
              double size,
              const std::string& anchor,
              const std::string& color = "#222222");

    /** The document; lines lie below boxes and words. */
    std::string Print(double width, double height) const;

  private:
    /** A cubic Bezier curve. */
    void Curve(SvgPoint a,
               SvgPoint towards,
               SvgPoint from,
               SvgPoint b,
               double width,
               const std::string& color);

    std::string m_frames;
    std::string m_lines;
    std::string m_boxes;
    std::string m_words;
};

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_SVG_CANVAS_H
