/// What an audience guesses before a run, and what became of it.
#pragma once

#include "engine/diagnose/finding.h"

#include <QString>
#include <QStringList>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

/// Why a lane fails, in a room's words.
enum class FailureCause : std::uint8_t { Flushes, Overflows, LosesUpdates, WrongOrder, LearningRate, Data, Other };
inline constexpr std::array allFailureCauses {FailureCause::Flushes, FailureCause::Overflows,
    FailureCause::LosesUpdates, FailureCause::WrongOrder, FailureCause::LearningRate, FailureCause::Data,
    FailureCause::Other};

QString titleOf(FailureCause cause); ///< "small gradients flush to zero"
FailureCause causeOf(std::string_view rule); ///< of a finding's rule

struct Prediction
{
    std::vector<int> hands; ///< by lane, as many as lanes: who thinks that it fails
    int none = 0; ///< who thinks that none does
    std::optional<std::int64_t> step; ///< when; unset: not asked
    std::optional<FailureCause> cause; ///< why; unset: not asked
};

/// How a lane went.
struct LaneFate
{
    QString name;
    std::optional<Finding> problem; ///< the worst; nothing: it trains
};

/// From what was found on it: a lane fails if something is a problem, and from where the first one began.
LaneFate fateOf(const QString& name, const std::vector<Finding>& findings);

/// The outcome and how the guesses stand to it, a sentence each.
QStringList revealOf(const Prediction& prediction, const std::vector<LaneFate>& fates);

} // namespace mantissa
