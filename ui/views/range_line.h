/// The ranges of the formats on one axis of powers of two: where each has normal and subnormal numbers, and where a
/// value lies.
#pragma once

#include <QWidget>

namespace mantissa {

class RangeLine : public QWidget
{
    Q_OBJECT
public:
    explicit RangeLine(QWidget* parent = nullptr);

    void setValue(double value);

    [[nodiscard]] QSize sizeHint() const override;

    [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

signals:
    void picked(double value); ///< a person clicked or dragged: a power of two

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;

private:
    [[nodiscard]] int labelWidth() const;
    [[nodiscard]] double positionOf(double exponent) const;
    void pick(double x);

    double m_value = 1;
};

} // namespace mantissa
