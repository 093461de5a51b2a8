/// Sentences about lanes and events: plain, short, exact. Pure functions of values.
#pragma once

#include "engine/train/session.h"
#include "ui/session/lane_monitor.h"
#include "ui/style/number_format.h"

#include <QString>

namespace mantissa {

/// How much a sentence should worry a person; shown by a sign and a word, never by colour alone.
enum class Tone { Plain, Good, Notice, Problem };

struct Sentence
{
    Tone tone = Tone::Plain;
    QString text;
};

/// "!" for a problem and so on; empty for Plain.
QString signOf(Tone tone);

/// What to say about a lane now, as in "Skipped 3 steps while finding its scale (normal)."
Sentence laneSentence(const LaneStatus& lane, const LaneFacts& facts, SessionState state);

/// Whether the lane still sees what the baseline sees, and if not, since when.
QString lockSentence(const LaneFacts& facts, bool isBaseline, const QString& baselineName);

/// "FP16 · PyTorch 2^16 · clips · rate 0.001"
QString settingsSummary(const LaneConfig& config, double scale, double rate);

/// "FP16" (PyTorch's lists on CUDA), "FP16, TensorFlow lists", "Apex O1", "Pure FP16", or the policy as written.
QString policyLabel(const std::string& policy);
/// What precision.weights says: "FP32 masters" or "16-bit, no masters".
QString weightsLabel(const std::string& weights);

/// One line per kind of memory, total last.
QString memoryText(const MemoryBytes& bytes);

/// A setting's path in words: "scaler.scale" -> "scale".
QString settingName(const std::string& path);

/// What an event says in the log and on the plots, without the lane's name.
QString eventSentence(const Event& event);

} // namespace mantissa
