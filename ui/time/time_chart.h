/// A lane's steps as stacked bars of their phases, over the whole run.
#pragma once

#include "ui/time/time_history.h"

#include <QColor>
#include <QString>
#include <QWidget>

class QPainter;

namespace mantissa {

class TimeChart : public QWidget
{
    Q_OBJECT
public:
    explicit TimeChart(QWidget* parent = nullptr);

    void show(const TimeHistory& history, const QString& lane, const QColor& color);
    void showText(const QString& why); ///< instead of bars

    [[nodiscard]] bool isEmpty() const { return m_history.buckets().empty(); }

    /// As on the screen, into any device; for exports.
    void paint(QPainter& painter, const QSize& size) const;
    /// What lies at a place, in words; empty where there is no bar.
    [[nodiscard]] QString textAt(const QPoint& position) const;
    [[nodiscard]] double xOf(std::int64_t step) const; ///< in the widget's pixels

    [[nodiscard]] QSize sizeHint() const override { return {640, 260}; }

    [[nodiscard]] QSize minimumSizeHint() const override { return {320, 140}; }

signals:
    void stepChosen(qint64 step);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override; ///< tooltips

private:
    struct Scene;

    [[nodiscard]] Scene sceneFor(const QSize& size) const;
    [[nodiscard]] const TimeHistory::Bucket* bucketAt(const QPoint& position) const;
    void paintLegend(QPainter& painter, const Scene& scene) const;

    TimeHistory m_history;
    QString m_lane;
    QColor m_color;
    QString m_text;
};

} // namespace mantissa
