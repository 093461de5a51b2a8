/// Paints bands of many curves over each other, column by column: the cheapest way to show millions of noisy values.
/// QPainter takes a call per column and walks the picture from top to bottom for each; this goes row by row.
#pragma once

#include <QImage>
#include <QRect>

#include <vector>

namespace mantissa {

class BandImage
{
public:
    /// Starts anew: an empty picture of `size` device pixels.
    void start(const QSize& size);
    /// Starts a band over those before it.
    void startBand(const QColor& color);
    /// Fills the rectangle, given in device pixels from the picture's corner; parts outside are left out. Where two
    /// rectangles of a band share a pixel column, what lies between them is filled too.
    void addColumn(const QRect& column);
    /// The rows that a band reaches, full width; empty if there is none.
    [[nodiscard]] QRect rows() const;
    /// The picture, transparent where no band lies. Only rows() are painted; the others hold anything.
    [[nodiscard]] const QImage& paint();

private:
    struct Band
    {
        QRgb color = 0;
        int top = 0; ///< rows [top, bottom) are touched
        int bottom = 0;
        std::vector<int> tops; ///< per pixel column; nothing is covered where top >= bottom
        std::vector<int> bottoms;
    };

    std::vector<Band> m_bands; ///< the first m_count are in use
    std::size_t m_count = 0;
    QImage m_image;
};

} // namespace mantissa
