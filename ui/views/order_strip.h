/// The blocks of a step in their order, to be dragged: backward, then unscale, check, clip, step, update, schedule.
/// With the keyboard: left and right choose a block, Ctrl+left and Ctrl+right move it.
#pragma once

#include "engine/train/step_order.h"

#include <QWidget>

#include <array>
#include <optional>

namespace mantissa {

class OrderStrip : public QWidget
{
    Q_OBJECT
public:
    /// How a block is drawn.
    enum class Mark { Right, Unusual, Wrong, Unused };

    explicit OrderStrip(QWidget* parent = nullptr);

    /// Not shown while a person drags.
    void setOrder(const StepOrder& order);
    void setMark(StepBlock block, Mark mark, const QString& hint);

    [[nodiscard]] const StepOrder& order() const { return m_order; }

    [[nodiscard]] QRect blockRect(StepBlock block) const;
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

signals:
    void reordered(const mantissa::StepOrder& order); ///< a person let go of a block, or moved it by key

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Look
    {
        Mark mark = Mark::Right;
        QString hint;
    };

    [[nodiscard]] QRect slotRect(std::size_t slot) const; ///< 0: backward
    [[nodiscard]] std::optional<std::size_t> slotAt(const QPoint& position) const;
    [[nodiscard]] int slotWidth() const;
    void moveBlock(std::size_t from, std::size_t to);
    void paintBlock(QPainter& painter, const QRect& rect, const QString& text, Mark mark, bool isChosen) const;
    void paintArrow(QPainter& painter, std::size_t slot) const;
    void announce();

    StepOrder m_order = rightOrder;
    StepOrder m_before = rightOrder; ///< when the drag began
    std::array<Look, stepBlockCount> m_looks;
    std::size_t m_chosen = 0; ///< place in the order
    bool m_isDragging = false;
};

} // namespace mantissa
