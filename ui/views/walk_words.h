/// A step taken apart, in words and numbers for people.
#pragma once

#include "engine/train/step_walk.h"

#include <QString>
#include <QStringList>

#include <vector>

namespace mantissa {

/// What one page of the walk shows.
struct WalkPage
{
    QString title {}; ///< "backward"
    QString sentence {}; ///< what the stage does, with its numbers
    QStringList columns {}; ///< of the table; empty: there is none
    std::vector<QStringList> rows {};
    bool isAlarming = false; ///< numbers are lost or not finite here
};

/// One page per stage in the lane's order; forward is followed by one for the loss and one for its scaling.
std::vector<WalkPage> walkPages(const StepWalk& walk);

} // namespace mantissa
