/// The bits of a number in a format as boxes: sign, exponent, fraction. A click, or the space bar on the chosen one,
/// turns a bit over.
#pragma once

#include "engine/formats/float_format.h"

#include <QWidget>

namespace mantissa {

class BitRow : public QWidget
{
    Q_OBJECT
public:
    explicit BitRow(const FloatFormat& format, QWidget* parent = nullptr);

    void setBits(std::uint32_t bits);

    [[nodiscard]] std::uint32_t bits() const { return m_bits; }

    [[nodiscard]] QRect bitRect(int bit) const; ///< 0: the last one
    [[nodiscard]] QSize sizeHint() const override;

    [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

signals:
    void flipped(std::uint32_t bits); ///< all of them, as a person left them

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    void flip(int bit);
    [[nodiscard]] int boxWidth() const;

    FloatFormat m_format;
    std::uint32_t m_bits = 0;
    int m_chosen;
};

} // namespace mantissa
