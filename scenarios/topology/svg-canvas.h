// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_SVG_CANVAS_H
#define WEIR_SCENARIOS_TOPOLOGY_SVG_CANVAS_H

#include <string>

namespace weir
{

/** A point in a drawing, in pixels, with y downwards. */
struct SvgPoint
{
    double x{0};
    double y{0};
};

/** Collects lines, boxes and texts and writes them as one SVG document. Lengths are in pixels. */
class SvgCanvas
{
  public:
    void Line(SvgPoint a, SvgPoint b, double width, const std::string& color);

    /** Draws an arc from @p a to @p b that rises @p rise pixels upwards. */
    void Arc(SvgPoint a, SvgPoint b, double rise, double width, const std::string& color);

    /** Draws an arc from @p a to @p b that extends @p reach pixels to the right. */
    void SideArc(SvgPoint a, SvgPoint b, double reach, double width, const std::string& color);

    /** Draws a box around its center with a text in it. */
    void Box(SvgPoint centre,
             double width,
             double height,
             const std::string& fill,
             const std::string& word);

    /** Draws a frame with its upper left corner at @p corner and a text in it. */
    void Frame(SvgPoint corner, double width, double height, const std::string& word);

    /** @param size font size in pixels @param anchor start, middle or end */
    void Text(SvgPoint at,
              const std::string& text,
              double size,
              const std::string& anchor,
              const std::string& color = "#222222");

    /** The document; lines are below boxes and texts. */
    std::string Print(double width, double height) const;

  private:
    /** Draws a cubic Bezier curve. */
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
