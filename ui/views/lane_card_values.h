/// The present numbers of a lane card: labels and values in columns.
#pragma once

#include "engine/train/session.h"
#include "ui/session/lane_monitor.h"

#include <QCoreApplication>

class QFontMetrics;
class QGridLayout;
class QLabel;

namespace mantissa {

struct CardValues
{
    Q_DECLARE_TR_FUNCTIONS(mantissa::LaneCard)

public:
    QLabel* loss = nullptr;
    QLabel* gradNorm = nullptr;
    QLabel* scale = nullptr;
    QLabel* skipped = nullptr;
    QLabel* flushed = nullptr;
    QLabel* memory = nullptr;

    QGridLayout* makeLayout();
    /// Room for the longest number in each column, whatever is shown now.
    [[nodiscard]] int widthWanted(const QFontMetrics& metrics) const;
    void show(const LaneStatus& lane, const LaneFacts& facts);
};

} // namespace mantissa
