/// The layer view in words: measures, cells, the stages of a gradient, the scaler's ledger. Pure functions of values.
#pragma once

#include "ui/layers/layer_grid.h"
#include "ui/layers/skip_ledger.h"
#include "ui/layers/survival.h"

#include <QString>

namespace mantissa {

QString titleOf(LayerMeasure measure); ///< "Gradient norm": of a column
QString explanationOf(LayerMeasure measure); ///< what is measured, in a sentence

/// "0.0123", "12 %", "infinity"; empty for NaN.
QString valueText(LayerMeasure measure, double value);

/// "fc1 at step 100: 12 % of the gradient's elements are flushed to zero."
QString cellSentence(const LayerGrid& grid, std::size_t row, std::size_t column, LayerMeasure measure);

/// Why a lane has no value of the measure in any layer; `isHalf`: it computes in 16 bits.
QString absenceSentence(LayerMeasure measure, bool isHalf);

QString titleOf(SurvivalKind kind); ///< "unscaled, in 16 bits", "times the scale", ...
QString explanationOf(SurvivalKind kind, const StepSample& sample);
/// "96 % normal, 3 % subnormal, 1 % flushed"
QString sharesText(const SurvivalStage& stage);
/// "worst: fc1 12 %, fc2 3 %"; empty if no layer lost anything.
QString worstText(const SurvivalStage& stage);

/// "297 steps taken, 3 skipped; scale grown once, backed off 3 times; the schedule keeps pace with the optimizer."
QString ledgerSentence(const SkipLedger& ledger);
/// "Step 3: skipped, the scale is lowered. A gradient is not finite; first in ..."; `first` .. `last` is one step or
/// more.
QString ledgerStepsText(const SkipLedger& ledger, std::int64_t first, std::int64_t last);

} // namespace mantissa
