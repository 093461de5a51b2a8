/// What a lane's ranks say, in words.
#pragma once

#include "ui/ranks/rank_history.h"

#include <QString>

namespace mantissa {

/// What the lowest plot of the "Ranks" tab shows.
enum class RankMeasure : std::uint8_t { Distance, Flushed };

QString titleOf(RankMeasure measure);

/// Whether the ranks agree, and if not on what.
QString sentenceOf(const QString& lane, const RankHistory& history);

} // namespace mantissa
