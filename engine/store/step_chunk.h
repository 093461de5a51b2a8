/// Step records as columns: up to 1,024 consecutive steps of one run make one row of step_chunks, a BLOB per column.
/// A BLOB is one tag byte, a type code of Python's struct module, followed by little-endian values: one per step, or a
/// single one if all steps have it. The narrowest type that gives every value back bit for bit is chosen, so a float
/// that travels in a double costs four bytes and nothing is ever rounded.
#pragma once

#include "engine/train/step_record.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mantissa {

inline constexpr std::size_t stepsPerChunk = 1024;

/// Calls visit(name, accessor) for every column of step_chunks in the order of the table; accessor(record) is a
/// reference to the field. `step` and `lane` are not columns: they follow from the row.
template <typename Visit> void forEachStepColumn(Visit&& visit)
{
    visit(
        "loss", [](auto& r) -> auto& { return r.loss; });
    visit(
        "grad_norm", [](auto& r) -> auto& { return r.gradNorm; });
    visit(
        "grad_norm_clipped", [](auto& r) -> auto& { return r.gradNormClipped; });
    visit(
        "scale", [](auto& r) -> auto& { return r.scale; });
    visit(
        "skipped", [](auto& r) -> auto& { return r.skipped; });
    visit(
        "loss_finite", [](auto& r) -> auto& { return r.lossFinite; });
    visit(
        "found_inf", [](auto& r) -> auto& { return r.foundInf; });
    visit(
        "growth_tracker", [](auto& r) -> auto& { return r.growthTracker; });
    visit(
        "hysteresis", [](auto& r) -> auto& { return r.hysteresis; });
    visit(
        "dropped_micro_batches", [](auto& r) -> auto& { return r.droppedMicroBatches; });
    visit(
        "grad_max", [](auto& r) -> auto& { return r.gradMax; });
    visit(
        "lr", [](auto& r) -> auto& { return r.lr; });
    visit(
        "flushed", [](auto& r) -> auto& { return r.flushed; });
    visit(
        "subnormal", [](auto& r) -> auto& { return r.subnormal; });
    visit(
        "overflowed", [](auto& r) -> auto& { return r.overflowed; });
    visit(
        "update_ratio", [](auto& r) -> auto& { return r.updateRatio; });
    visit(
        "baseline_distance", [](auto& r) -> auto& { return r.baselineDistance; });
    visit(
        "batch_hash", [](auto& r) -> auto& { return r.batchHash; });
    visit(
        "time_data_ms", [](auto& r) -> auto& { return r.timeMs.dataMs; });
    visit(
        "time_forward_ms", [](auto& r) -> auto& { return r.timeMs.forwardMs; });
    visit(
        "time_backward_ms", [](auto& r) -> auto& { return r.timeMs.backwardMs; });
    visit(
        "time_unscale_ms", [](auto& r) -> auto& { return r.timeMs.unscaleMs; });
    visit(
        "time_clip_ms", [](auto& r) -> auto& { return r.timeMs.clipMs; });
    visit(
        "time_optimizer_ms", [](auto& r) -> auto& { return r.timeMs.optimizerMs; });
    visit(
        "time_instruments_ms", [](auto& r) -> auto& { return r.timeMs.instrumentsMs; });
    visit(
        "wall_seconds", [](auto& r) -> auto& { return r.wallSeconds; });
    visit(
        "bytes_weights", [](auto& r) -> auto& { return r.bytes.weights; });
    visit(
        "bytes_copies", [](auto& r) -> auto& { return r.bytes.copies; });
    visit(
        "bytes_gradients", [](auto& r) -> auto& { return r.bytes.gradients; });
    visit(
        "bytes_optimizer", [](auto& r) -> auto& { return r.bytes.optimizer; });
    visit(
        "bytes_activations", [](auto& r) -> auto& { return r.bytes.activations; });
    visit(
        "bytes_workspace", [](auto& r) -> auto& { return r.bytes.workspace; });
    visit(
        "validation_loss", [](auto& r) -> auto& { return r.validationLoss; });
    visit(
        "validation_accuracy", [](auto& r) -> auto& { return r.validationAccuracy; });
    visit(
        "time_wait_ms", [](auto& r) -> auto& { return r.timeMs.waitMs; });
    visit(
        "time_evaluation_ms", [](auto& r) -> auto& { return r.timeMs.evaluationMs; });
}

/// The names above as a list for a query: "step_chunks.loss, step_chunks.grad_norm, ...".
const std::string& qualifiedStepColumns();
std::size_t stepColumnCount();

using Blob = std::vector<std::byte>;

Blob packColumn(std::span<const double> values);
Blob packColumn(std::span<const float> values);
Blob packColumn(std::span<const std::uint64_t> values);
Blob packColumn(std::span<const std::int64_t> values);

/// Writes values.size() values. Returns false if the blob has another size or an unknown tag (a damaged file).
bool unpackColumn(std::span<const std::byte> blob, std::span<double> values);
bool unpackColumn(std::span<const std::byte> blob, std::span<float> values);
bool unpackColumn(std::span<const std::byte> blob, std::span<std::uint64_t> values);
bool unpackColumn(std::span<const std::byte> blob, std::span<std::int64_t> values);
bool unpackColumn(std::span<const std::byte> blob, std::span<std::uint8_t> values);

/// All columns of consecutive records, in the order of forEachStepColumn().
std::vector<Blob> packRecords(std::span<const StepRecord> records);

/// Fills column `index` of the records; an empty blob (a column that a later version added) leaves them as they are.
bool unpackIntoRecords(std::size_t index, std::span<const std::byte> blob, std::span<StepRecord> records);

} // namespace mantissa
