/// Stored runs as CSV and JSON, with every digit: what is written comes back as the same numbers.
#pragma once

#include "engine/store/run_store.h"

#include <nlohmann/json.hpp>

#include <iosfwd>
#include <span>
#include <string>

namespace mantissa {

/// A number as JSON; infinities and NaN, which JSON lacks, become the strings "inf", "-inf" and "nan".
nlohmann::ordered_json exactNumber(double value);

/// A row of the runs table with the keys that `mantissa-cli run --json` prints, and more. What is not known of an
/// imported run is null, and "imported" says where it came from.
nlohmann::ordered_json runAsJson(const RunInfo& run);

/// A step with the keys of `--metrics`, and more.
nlohmann::ordered_json stepAsJson(const StepRecord& record, const std::string& lane);

/// What one rank of a data-parallel lane reports of a step: an entry of the step's "ranks".
nlohmann::ordered_json rankAsJson(const RankRecord& record);

/// A tensor of a sampled step: its place, its census and range, and the numbers that apply to it. "exponents" has the
/// elements by binary exponent, from "first_exponent" on.
nlohmann::ordered_json tensorAsJson(const StepSample& sample, const TensorSample& tensor, const std::string& lane);

/// What happened, with the texts that a change of settings has.
nlohmann::ordered_json eventAsJson(const Event& event);

/// One header, then one row per step of every run: run, lane, step, then the numbers. pandas.read_csv() reads nan, inf
/// and -inf as they are written. Throws Error (Io) if the database cannot be read or the stream fails.
void exportCsv(std::ostream& out, const RunStore& store, std::span<const RunId> runs);

/// One header, then one row per step and rank of the runs that have several: run, lane, step, rank, then the numbers.
/// Errors as exportCsv().
void exportRanksCsv(std::ostream& out, const RunStore& store, std::span<const RunId> runs);

/// {"runs": [{..., "experiment_document", "replay", "events": [...], "records": [...]}]}, one record a line. An
/// imported run has no documents, and null where its log says nothing (in CSV: nan). Errors as exportCsv().
void exportJson(std::ostream& out, const RunStore& store, std::span<const RunId> runs);

} // namespace mantissa
