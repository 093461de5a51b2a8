#include "ui/plots/band_image.h"

#include <QColor>

#include <algorithm>

namespace mantissa {

void BandImage::start(const QSize& size)
{
    if (m_image.size() != size) {
        m_image = QImage(size, QImage::Format_ARGB32_Premultiplied);
    }
    m_count = 0;
}

void BandImage::startBand(const QColor& color)
{
    if (m_count == m_bands.size()) {
        m_bands.emplace_back();
    }
    Band& band = m_bands[m_count++];
    band.color = color.rgb();
    band.top = m_image.height();
    band.bottom = 0;
    const auto width = static_cast<std::size_t>(m_image.width());
    band.tops.assign(width, m_image.height());
    band.bottoms.assign(width, 0);
}

void BandImage::addColumn(const QRect& column)
{
    Band& band = m_bands[m_count - 1];
    const int left = std::max(0, column.left());
    const int right = std::min(m_image.width(), column.left() + column.width());
    const int top = std::max(0, column.top());
    const int bottom = std::min(m_image.height(), column.top() + column.height());
    if (left >= right || top >= bottom) {
        return;
    }
    band.top = std::min(band.top, top);
    band.bottom = std::max(band.bottom, bottom);
    for (auto x = static_cast<std::size_t>(left); x < static_cast<std::size_t>(right); ++x) {
        band.tops[x] = std::min(band.tops[x], top);
        band.bottoms[x] = std::max(band.bottoms[x], bottom);
    }
}

QRect BandImage::rows() const
{
    int top = m_image.height();
    int bottom = 0;
    for (std::size_t b = 0; b < m_count; ++b) {
        top = std::min(top, m_bands[b].top);
        bottom = std::max(bottom, m_bands[b].bottom);
    }
    return {0, top, m_image.width(), std::max(0, bottom - top)};
}

const QImage& BandImage::paint()
{
    const auto width = static_cast<std::size_t>(m_image.width());
    const QRect painted = rows();
    for (int y = painted.top(); y < painted.top() + painted.height(); ++y) {
        auto* const row = reinterpret_cast<QRgb*>(m_image.scanLine(y));
        std::fill_n(row, width, QRgb {0});
        for (std::size_t b = 0; b < m_count; ++b) {
            const Band& band = m_bands[b];
            if (y < band.top || y >= band.bottom) {
                continue;
            }
            const int* const tops = band.tops.data();
            const int* const bottoms = band.bottoms.data();
            const QRgb color = band.color;
            for (std::size_t x = 0; x < width; ++x) {
                // Masks instead of branches: the compiler turns this into vector instructions.
                const QRgb covered = static_cast<QRgb>(-static_cast<int>(tops[x] <= y))
                    & static_cast<QRgb>(-static_cast<int>(y < bottoms[x]));
                row[x] = (row[x] & ~covered) | (color & covered);
            }
        }
    }
    return m_image;
}

} // namespace mantissa
