/// A strip of training steps, each finite or not: a click or Space turns a step over, a drag does so to all it passes.
#pragma once

#include <QWidget>

#include <vector>

namespace mantissa {

class TraceStrip : public QWidget
{
    Q_OBJECT
public:
    explicit TraceStrip(QWidget* parent = nullptr);

    void setSteps(std::vector<bool> overflows); ///< true: a gradient of the step is not finite

    [[nodiscard]] const std::vector<bool>& steps() const { return m_steps; }

    void setLength(int steps); ///< cuts, or adds finite ones
    [[nodiscard]] QRect cell(int step) const;

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] int heightForWidth(int width) const override;

signals:
    void changed();

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    [[nodiscard]] int side() const;
    [[nodiscard]] int columns(int width) const;
    [[nodiscard]] int stepAt(const QPoint& position) const; ///< -1: none
    [[nodiscard]] QString wordsFor(int step) const;
    void set(int step, bool overflows);
    void moveTo(int step);

    std::vector<bool> m_steps;
    int m_current = 0; ///< the keyboard's
    bool m_paints = false; ///< what a drag makes of the steps that it passes
};

} // namespace mantissa
