#include "engine/store/sample_rows.h"

#include <bit>
#include <cstring>
#include <limits>
#include <string>

namespace mantissa {

namespace {

static_assert(std::endian::native == std::endian::little, "BLOBs are little-endian");

/// Calls visit(field) for the counts, then the numbers, of a row in the order of the table.
template <typename Sample, typename Visit> void forEachCount(Sample& sample, Visit visit)
{
    visit(sample.elements);
    visit(sample.census.zero);
    visit(sample.census.flushed);
    visit(sample.census.subnormal);
    visit(sample.census.normal);
    visit(sample.census.overflowed);
    visit(sample.census.infinite);
    visit(sample.census.nan);
}

template <typename Sample, typename Visit> void forEachShare(Sample& sample, Visit visit)
{
    visit(sample.dead);
    visit(sample.saturated);
    visit(sample.cosine);
    visit(sample.relativeError);
    visit(sample.ratio);
    visit(sample.unmoved);
    visit(sample.belowHalfUlp);
}

constexpr const char* columnNames
    = "tensor, role, format, elements, zero, flushed, subnormal, normal, overflowed, infinite, nan, largest, smallest, "
      "norm, first_exponent, exponents, dead, saturated, cosine, relative_error, ratio, unmoved, below_half_ulp";

void bindTensor(SQLite::Statement& insert, int at, const TensorSample& sample)
{
    insert.bindNoCopy(++at, sample.tensor);
    insert.bind(++at, std::string(nameOf(sample.role)));
    insert.bind(++at, std::string(nameOf(sample.format)));
    forEachCount(sample, [&](std::uint64_t count) { insert.bind(++at, static_cast<std::int64_t>(count)); });
    insert.bind(++at, sample.largest);
    insert.bind(++at, sample.smallest);
    insert.bind(++at, sample.norm);
    insert.bind(++at, sample.firstExponent);
    // A null pointer would be NULL, not an empty BLOB.
    static constexpr std::uint32_t nothing = 0;
    insert.bindNoCopy(++at, sample.exponents.empty() ? &nothing : sample.exponents.data(),
        static_cast<int>(sample.exponents.size() * sizeof(std::uint32_t)));
    forEachShare(sample, [&](double share) { insert.bind(++at, share); });
}

/// False if a name or a size makes no sense.
bool readTensor(SQLite::Statement& row, int at, TensorSample& sample)
{
    sample.tensor = row.getColumn(at++).getString();
    const auto role = tensorRoleFromName(row.getColumn(at++).getString());
    const auto format = dtypeFromName(row.getColumn(at++).getString());
    forEachCount(
        sample, [&](std::uint64_t& count) { count = static_cast<std::uint64_t>(row.getColumn(at++).getInt64()); });
    sample.largest = row.getColumn(at++).getDouble();
    sample.smallest = row.getColumn(at++).getDouble();
    sample.norm = row.getColumn(at++).getDouble();
    sample.firstExponent = row.getColumn(at++).getInt();
    const SQLite::Column exponents = row.getColumn(at++);
    const auto bytes = static_cast<std::size_t>(exponents.getBytes());
    constexpr std::size_t mostExponents = 256;
    if (!role || !format || bytes % sizeof(std::uint32_t) != 0 || bytes / sizeof(std::uint32_t) > mostExponents) {
        return false;
    }
    sample.role = *role;
    sample.format = *format;
    sample.exponents.resize(bytes / sizeof(std::uint32_t));
    if (bytes > 0) {
        std::memcpy(sample.exponents.data(), exponents.getBlob(), bytes);
    }
    forEachShare(sample, [&](double& share) {
        const SQLite::Column column = row.getColumn(at++);
        share = column.isNull() ? TensorSample::none : column.getDouble();
    });
    return true;
}

} // namespace

void writeSamples(
    SQLite::Database& connection, std::int64_t run, std::span<const std::shared_ptr<const StepSample>> samples)
{
    if (samples.empty()) {
        return;
    }
    SQLite::Statement step(connection,
        "INSERT OR REPLACE INTO step_samples (run_id, step, format, scale, clip_limit, milliseconds) "
        "VALUES (?, ?, ?, ?, ?, ?)");
    std::string marks = "?, ?, ?";
    for (int column = 0; column < 23; ++column) {
        marks += ", ?";
    }
    SQLite::Statement tensor(connection,
        std::string("INSERT OR REPLACE INTO tensor_samples (run_id, step, ordinal, ") + columnNames + ") VALUES ("
            + marks + ")");
    for (const auto& sample : samples) {
        int at = 0;
        step.bind(++at, run);
        step.bind(++at, sample->step);
        step.bind(++at, std::string(nameOf(sample->lower)));
        step.bind(++at, sample->scale);
        step.bind(++at, sample->clipLimit);
        step.bind(++at, sample->milliseconds);
        step.exec();
        step.reset();
        std::int64_t ordinal = 0;
        for (const TensorSample& each : sample->tensors) {
            tensor.bind(1, run);
            tensor.bind(2, sample->step);
            tensor.bind(3, ordinal++);
            bindTensor(tensor, 3, each);
            tensor.exec();
            tensor.reset();
        }
    }
}

std::optional<std::vector<StepSample>> readSamples(
    SQLite::Database& connection, std::int64_t run, std::int64_t first, std::int64_t last)
{
    std::vector<StepSample> samples;
    SQLite::Statement steps(connection,
        "SELECT step, format, scale, clip_limit, milliseconds, lane_number FROM step_samples "
        "JOIN runs ON runs.id = run_id WHERE run_id = ? AND step BETWEEN ? AND ? ORDER BY step");
    steps.bind(1, run);
    steps.bind(2, first);
    steps.bind(3, last);
    SQLite::Statement tensors(connection,
        std::string("SELECT ") + columnNames + " FROM tensor_samples WHERE run_id = ? AND step = ? ORDER BY ordinal");
    while (steps.executeStep()) {
        StepSample& sample = samples.emplace_back();
        sample.step = steps.getColumn(0).getInt64();
        const auto lower = dtypeFromName(steps.getColumn(1).getString());
        if (!lower) {
            return std::nullopt;
        }
        sample.lower = *lower;
        sample.scale = steps.getColumn(2).getDouble();
        sample.clipLimit = steps.getColumn(3).getDouble();
        sample.milliseconds = steps.getColumn(4).getDouble();
        sample.lane = steps.getColumn(5).getUInt();
        tensors.bind(1, run);
        tensors.bind(2, sample.step);
        while (tensors.executeStep()) {
            if (!readTensor(tensors, 0, sample.tensors.emplace_back())) {
                return std::nullopt;
            }
        }
        tensors.reset();
    }
    return samples;
}

} // namespace mantissa
