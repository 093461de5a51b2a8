/// A picture in SVG as it will be printed: on white, as large as fits.
#pragma once

#include <QSvgRenderer>
#include <QWidget>

namespace mantissa {

class PictureView : public QWidget
{
    Q_OBJECT
public:
    explicit PictureView(QWidget* parent = nullptr);

    void show(const QByteArray& svg, const QSizeF& size);

    [[nodiscard]] QSize sizeHint() const override;

    [[nodiscard]] bool hasHeightForWidth() const override { return true; }

    [[nodiscard]] int heightForWidth(int width) const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QSvgRenderer m_renderer;
    QSizeF m_size {1, 1};
};

} // namespace mantissa
