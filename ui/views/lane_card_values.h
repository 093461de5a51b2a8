/// The present numbers of a lane card: labels and values in columns.
#pragma once

#include "engine/train/session.h"
#include "ui/session/lane_monitor.h"

#include <QCoreApplication>

class QFontMetrics;
class QGridLayout;

namespace mantissa {

class FigureLabel;

struct CardValues
{
    Q_DECLARE_TR_FUNCTIONS(mantissa::LaneCard)

public:
    FigureLabel* loss = nullptr;
    FigureLabel* gradNorm = nullptr;
    FigureLabel* scale = nullptr;
    FigureLabel* skipped = nullptr;
    FigureLabel* flushed = nullptr;
    FigureLabel* memory = nullptr;

    QGridLayout* makeLayout();
    /// Room for the longest number in each column, whatever is shown now.
    [[nodiscard]] int widthWanted(const QFontMetrics& metrics) const;
    void show(const LaneStatus& lane, const LaneFacts& facts);
};

} // namespace mantissa
