/// A number that changes while lanes train, right-aligned. Unlike QLabel it has one size whatever it shows, so that a
/// new number repaints it and lays nothing out again.
#pragma once

#include <QString>
#include <QWidget>

namespace mantissa {

class FigureLabel : public QWidget
{
    Q_OBJECT
    Q_PROPERTY(QString text READ text WRITE setText)
public:
    /// As wide as `widest` at least; what is longer is elided in the middle.
    explicit FigureLabel(QString widest, QWidget* parent = nullptr);

    [[nodiscard]] QString text() const { return m_text; }

    void setText(const QString& text);

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QString m_widest;
    QString m_text;
};

} // namespace mantissa
