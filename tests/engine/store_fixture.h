/// Runs made up for the store's tests: every number follows from lane and step, so that any reader can check it.
#pragma once

#include "engine/store/run_store.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace storetest {

/// Among the values: doubles that no float holds, floats, infinities, NaN, negative zero, subnormals, full 64-bit
/// counters.
inline mantissa::StepRecord recordAt(std::uint32_t lane, std::int64_t step)
{
    const auto t = static_cast<double>(step);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    mantissa::StepRecord record;
    record.step = step;
    record.lane = lane;
    record.lossFinite = step % 97 != 5;
    record.foundInf = step % 53 == 7;
    record.skipped = step % 53 == 7;
    record.growthTracker = static_cast<std::int32_t>(step % 2000);
    record.hysteresis = step < 1500 ? -1 : 2;
    record.droppedMicroBatches = static_cast<std::int32_t>(step % 3);
    record.loss
        = record.lossFinite ? static_cast<double>(static_cast<float>(std::exp(-t / 1e4))) : (step % 2 ? nan : infinity);
    record.gradNorm = record.foundInf ? infinity : std::sqrt(1 + t);
    record.gradNormClipped = record.foundInf ? -infinity : 1 / (1 + t);
    record.gradMax = step % 7 == 0 ? -0.0 : 0.1 * t;
    record.scale = std::ldexp(1.0, static_cast<int>(16 - step / 900 % 10));
    record.lr = 1e-3;
    record.flushed = t / 3e6;
    record.subnormal = std::numeric_limits<double>::denorm_min() * (1 + t);
    record.overflowed = 0;
    record.updateRatio = 1e-300 * (1 + t);
    record.baselineDistance = lane == 0 ? nan : t * 1e-7;
    record.batchHash = 0x9E3779B97F4A7C15ULL * static_cast<std::uint64_t>(step + 1);
    record.timeMs = {0.1F, 0.05F, 0.2F, 0.3F * static_cast<float>(step % 5), 0.4F, 0, 0.6F,
        std::numeric_limits<float>::infinity(), step % 100 == 99 ? 7.5F : 0};
    record.validationLoss = step % 100 == 99 ? 1 / (2 + t) : nan;
    record.validationAccuracy = step % 100 == 99 ? t / 1e7 : nan;
    record.wallSeconds = t / 412;
    record.bytes = {1000, 500, 1000, 2000, std::uint64_t {1} << 63, lane};
    return record;
}

/// Equality of every field, bit for bit.
inline bool identical(const mantissa::StepRecord& a, const mantissa::StepRecord& b)
{
    const auto same
        = [](double x, double y) { return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y); };
    const auto& s = a.timeMs;
    const auto& t = b.timeMs;
    return a.step == b.step && a.lane == b.lane && a.lossFinite == b.lossFinite && a.foundInf == b.foundInf
        && a.skipped == b.skipped && a.growthTracker == b.growthTracker && a.hysteresis == b.hysteresis
        && a.droppedMicroBatches == b.droppedMicroBatches && same(a.loss, b.loss) && same(a.gradNorm, b.gradNorm)
        && same(a.gradNormClipped, b.gradNormClipped) && same(a.gradMax, b.gradMax) && same(a.scale, b.scale)
        && same(a.lr, b.lr) && same(a.flushed, b.flushed) && same(a.subnormal, b.subnormal)
        && same(a.overflowed, b.overflowed) && same(a.updateRatio, b.updateRatio)
        && same(a.baselineDistance, b.baselineDistance) && a.batchHash == b.batchHash && same(s.dataMs, t.dataMs)
        && same(s.forwardMs, t.forwardMs) && same(s.backwardMs, t.backwardMs) && same(s.unscaleMs, t.unscaleMs)
        && same(s.clipMs, t.clipMs) && same(s.optimizerMs, t.optimizerMs) && same(s.instrumentsMs, t.instrumentsMs)
        && same(s.waitMs, t.waitMs) && same(s.evaluationMs, t.evaluationMs) && same(a.validationLoss, b.validationLoss)
        && same(a.validationAccuracy, b.validationAccuracy) && same(a.wallSeconds, b.wallSeconds) && a.bytes == b.bytes;
}

inline mantissa::RunStart startOf(std::uint32_t lane, const std::string& name = "Digits")
{
    mantissa::RunStart start;
    start.lane = lane;
    start.config.name = lane == 0 ? "FP32" : "FP16 AMP";
    start.config.color = "#0072B2";
    start.config.seed = 0xFEDCBA9876543210ULL;
    start.config.precision.policy = lane == 0 ? "fp32" : "fp16";
    if (lane != 0) {
        start.config.scaler = mantissa::ScalerConfig {};
    }
    start.config.document = {{"name", start.config.name}, {"seed", 7}, {"steps", 300}, {"data", {{"kind", "digits"}}}};
    start.experimentName = name;
    start.experiment = {{"mantissa", 1}, {"name", name}, {"text", "What to look at."}, {"seed", 7}, {"steps", 300},
        {"data", {{"kind", "digits"}}}, {"lanes", {{{"name", "FP32"}}, {{"name", "FP16 AMP"}}}},
        {"events",
            {{{"step", 100}, {"lane", "FP16 AMP"}, {"set", {{"scaler.scale", 1024}}}},
                {{"step", 200}, {"set", {{"optimizer.lr", 0.5}}}},
                {{"step", 250}, {"lane", "FP32"}, {"set", {{"optimizer.lr", 0.25}}}}}}};
    start.device = "CPU";
    start.backend = "cpu";
    start.instructionSet = "avx2";
    start.threads = 2;
    start.initialWeightsHash = "0123456789abcdef";
    start.unixSeconds = 1.7e9;
    return start;
}

} // namespace storetest
