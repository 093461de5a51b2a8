/// The ranks of a data-parallel lane over its steps: norms of their own gradients, their scales, a measure of how they
/// differ, and the steps in which each found something that is not finite. A line for each rank.
#pragma once

#include "ui/ranks/rank_words.h"

#include <QColor>
#include <QPen>
#include <QString>
#include <QWidget>

class QPainter;

namespace mantissa {

class RankChart : public QWidget
{
    Q_OBJECT
public:
    explicit RankChart(QWidget* parent = nullptr);

    void show(const RankHistory& history, const QString& lane, const QColor& color, RankMeasure measure);
    void showText(const QString& why); ///< instead of lines

    [[nodiscard]] bool isEmpty() const { return m_history.buckets().empty(); }

    /// As on the screen, into any device; for exports.
    void paint(QPainter& painter, const QSize& size) const;
    /// What lies at a place, in words; empty where there is nothing.
    [[nodiscard]] QString textAt(const QPoint& position) const;
    [[nodiscard]] double xOf(std::int64_t step) const; ///< in the widget's pixels
    /// Height of the middle of a rank's row of marks.
    [[nodiscard]] double markY(std::size_t rank) const;

    [[nodiscard]] QSize sizeHint() const override { return {640, 420}; }

    [[nodiscard]] QSize minimumSizeHint() const override { return {320, 240}; }

signals:
    void stepChosen(qint64 step);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override; ///< tooltips

private:
    struct Axis;
    struct Scene;

    [[nodiscard]] Scene sceneFor(const QSize& size) const;
    [[nodiscard]] QPen penOf(std::size_t rank) const;
    [[nodiscard]] const RankHistory::Bucket* bucketAt(const QPoint& position) const;
    void paintAxis(QPainter& painter, const Scene& scene, const Axis& axis) const;
    void paintLines(QPainter& painter, const Scene& scene, const Axis& axis) const;
    void paintMarks(QPainter& painter, const Scene& scene) const;
    void paintLegend(QPainter& painter, const Scene& scene) const;

    RankHistory m_history;
    QString m_lane;
    QColor m_color;
    RankMeasure m_measure = RankMeasure::Distance;
    QString m_text;
};

} // namespace mantissa
