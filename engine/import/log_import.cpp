#include "engine/import/log_import.h"

#include "engine/core/clock.h"
#include "engine/core/error.h"
#include "engine/import/column_names.h"
#include "engine/import/log_values.h"
#include "engine/import/run_records.h"
#include "engine/import/skip_derivation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <utility>

namespace mantissa {

namespace {

constexpr std::size_t mostRuns = 1000;
constexpr std::size_t slice = 200'000; // records between two waits for the file
constexpr std::size_t liveTail = 1000; // records that a late value can still reach

/// Which run a row belongs to: the file's own name for it, and what the row's cell says.
using RunKey = std::pair<std::uint32_t, std::string>;

struct PendingRun
{
    LogValues values;
    double firstTime = std::numeric_limits<double>::quiet_NaN(); ///< as logged
    double lastTime = std::numeric_limits<double>::quiet_NaN();
};

/// A run whose beginning is written.
struct LiveRun
{
    std::unique_ptr<RecordMaker> maker;
    std::deque<StepRecord> tail;
    RunSummary summary;
    bool isWritten = false;
};

bool isUnixTime(double seconds)
{
    constexpr double year2001 = 1e9;
    constexpr double year2100 = 4.1e9;
    return seconds > year2001 && seconds < year2100;
}

/// "3 steps" of a rounded step cell: whole, not negative, and not beyond what a plot can hold.
std::optional<std::int64_t> stepFrom(double number)
{
    constexpr double largest = 0x1p52;
    return number >= 0 && number <= largest && std::trunc(number) == number
        ? std::optional(static_cast<std::int64_t>(number))
        : std::nullopt;
}

std::string times(std::uint64_t count, const char* one, const char* many)
{
    return count == 1 ? fmt::format("1 {}", one) : fmt::format("{} {}", count, many);
}

} // namespace

struct LogImport::Impl
{
    Impl(std::filesystem::path given, LogImportOptions wanted)
        : path(std::move(given))
        , options(std::move(wanted))
        , survey(surveyLog(path, options.columns))
        , reader(openLog(path))
        , map(survey.map)
    {
    }

    void take(const LogRow& row);
    [[nodiscard]] RunKey keyOf(const LogRow& row) const;
    [[nodiscard]] std::optional<std::int64_t> stepOf(const LogRow& row);
    PendingRun& runFor(const RunKey& key);
    void settleRun(const RunKey& key, PendingRun& run);
    void deriveFields(PendingRun& run, ImportedRun& info);
    [[nodiscard]] std::string nameOf(const RunKey& key) const;
    void start(RunWriter& writer, std::size_t index);
    void writeRecords(RunWriter& writer, std::size_t index, const std::function<bool()>& isWanted);
    [[nodiscard]] bool canBeginAnew() const;
    void takeLive(const LogRow& row);
    void touch(std::size_t index, const LogRow& row, std::int64_t step);
    void endRun(RunWriter& writer, std::size_t index, RunStatus status, const std::string& message);

    std::filesystem::path path;
    LogImportOptions options;
    LogSurvey survey;
    std::unique_ptr<LogReader> reader;
    ColumnMap map;
    std::size_t columnsSeen = 0;
    std::vector<RunKey> order; ///< of the runs, as they came
    std::map<RunKey, PendingRun> pending;
    std::map<RunKey, std::int64_t> rowNumbers; ///< for a log without steps
    std::uint64_t rowsWithoutStep = 0;
    std::uint64_t rowsDamaged = 0; ///< whose step is no whole number
    std::vector<ImportedRun> runs;
    std::vector<LiveRun> live;
    std::vector<RunKey> keys; ///< of `runs`
    std::vector<StepRecord> fresh; ///< since the last write, in the order of their coming
    bool isStale = false;
    std::uint64_t late = 0; ///< values that came too late for their step
};

RunKey LogImport::Impl::keyOf(const LogRow& row) const
{
    if (const auto column = map.columnOf(LogField::Run)) {
        const auto cell = std::ranges::find(row.cells, *column, &LogCell::column);
        if (cell != row.cells.end()) {
            return {row.run, cell->text.empty() ? fmt::format("{:g}", cell->number) : std::string(cell->text)};
        }
    }
    return {row.run, {}};
}

std::optional<std::int64_t> LogImport::Impl::stepOf(const LogRow& row)
{
    if (row.step) {
        return *row.step >= 0 ? row.step : std::nullopt;
    }
    const auto column = map.columnOf(LogField::Step);
    if (!column) {
        return rowNumbers[keyOf(row)]++;
    }
    const auto cell = std::ranges::find(row.cells, *column, &LogCell::column);
    if (cell == row.cells.end()) {
        ++rowsWithoutStep;
        return {};
    }
    const auto step = stepFrom(cell->number);
    rowsDamaged += step ? 0U : 1U;
    return step;
}

PendingRun& LogImport::Impl::runFor(const RunKey& key)
{
    const auto known = pending.find(key);
    if (known != pending.end()) {
        return known->second;
    }
    if (pending.size() >= mostRuns) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("{} has more than {} runs by its column \"{}\": is that the name of a run? (--map run= says "
                        "that it is none)",
                path.string(), mostRuns, reader->columns()[*map.columnOf(LogField::Run)]));
    }
    order.push_back(key);
    return pending[key];
}

void LogImport::Impl::take(const LogRow& row)
{
    if (reader->columns().size() != columnsSeen) {
        columnsSeen = reader->columns().size();
        map.learn(reader->columns());
    }
    const auto step = stepOf(row);
    if (!step) {
        return;
    }
    PendingRun* run = nullptr;
    double time = row.unixSeconds;
    for (const LogCell& cell : row.cells) {
        const auto field = map.fieldOf(cell.column);
        if (!field || !cell.isNumber || *field == LogField::Step || *field == LogField::Run) {
            continue;
        }
        if (std::isnan(cell.number) && !mayBeNaN(*field)) {
            continue;
        }
        if (run == nullptr) {
            run = &runFor(keyOf(row));
            if (row.beginsFile) {
                run->values.beginFile();
            }
        }
        run->values.add(*field, *step, cell.number);
        time = *field == LogField::WallTime ? cell.number : time;
    }
    if (run == nullptr) {
        return;
    }
    if (!std::isnan(time)) {
        run->firstTime = std::isnan(run->firstTime) ? time : run->firstTime;
        run->lastTime = time;
        if (!std::isnan(row.unixSeconds)) {
            run->values.add(LogField::WallTime, *step, time);
        }
    }
    run->values.endRow();
}

std::string LogImport::Impl::nameOf(const RunKey& key) const
{
    std::string name = reader->runs().at(key.first);
    name += !name.empty() && !key.second.empty() ? ", " : "";
    name += key.second;
    std::string file = path.filename().empty() ? path.parent_path().filename().string() : path.filename().string();
    if (file.starts_with("events.out.tfevents")) {
        const std::string folder = std::filesystem::absolute(path).parent_path().filename().string();
        file = folder.empty() ? file : folder;
    } else if (const auto dot = file.rfind('.'); dot != std::string::npos && dot > 0 && !survey.isFolder) {
        file.resize(dot);
    }
    if (name.empty()) {
        return options.name.empty() ? file : options.name;
    }
    return options.name.empty() ? name : options.name + ": " + name;
}

/// What the log has only in another form.
void LogImport::Impl::deriveFields(PendingRun& run, ImportedRun& info)
{
    LogValues& values = run.values;
    const auto know = [&info](LogField field, const std::string& from) {
        info.source.fields.emplace_back(mantissa::nameOf(field), from);
    };
    const auto column = [this](LogField field) { return reader->columns()[*map.columnOf(field)]; };
    for (const LogField field : allLogFields()) {
        if (values.has(field) && field != LogField::Skipped) {
            know(field, map.columnOf(field) ? column(field) : std::string("the log's own times"));
        }
    }
    if (values.has(LogField::Loss)) {
        info.source.fields.emplace_back("loss_finite", column(LogField::Loss));
    }
    if (values.has(LogField::Skipped)) {
        const auto steps = values.stepsOf(LogField::Skipped);
        const auto flags = values.valuesOf(LogField::Skipped);
        const bool rises = std::ranges::is_sorted(flags);
        const bool isCount = std::ranges::any_of(flags, [](double value) { return value > 1; })
            || (rises && namesCount(column(LogField::Skipped)) && std::ranges::count(flags, 1.0) > 1);
        if (!isCount) {
            know(LogField::Skipped, column(LogField::Skipped));
        } else if (rises && steps.back() - steps.front() + 1 == static_cast<std::int64_t>(steps.size())) {
            std::vector<double> skipped(flags.size(), 0);
            for (std::size_t i = 1; i < flags.size(); ++i) {
                skipped[i] = flags[i] > flags[i - 1] ? 1 : 0;
            }
            skipped[0] = flags[0] == 1 && steps[0] == 0 ? 1 : 0;
            values.replace(LogField::Skipped, {steps.begin(), steps.end()}, std::move(skipped));
            know(LogField::Skipped, fmt::format("where the count \"{}\" rises", column(LogField::Skipped)));
        } else {
            info.notes.push_back(
                fmt::format("\"{}\" is a count, but not of every step: which steps were skipped cannot be "
                            "told from it",
                    column(LogField::Skipped)));
            values.clear(LogField::Skipped);
        }
    }
    if (!info.source.knows("skipped") && values.has(LogField::FoundInf) && values.has(LogField::Scale)) {
        const auto steps = values.stepsOf(LogField::FoundInf);
        const auto flags = values.valuesOf(LogField::FoundInf);
        values.replace(LogField::Skipped, {steps.begin(), steps.end()}, {flags.begin(), flags.end()});
        know(LogField::Skipped,
            fmt::format("derived: a scaler skips the steps that \"{}\" marks", column(LogField::FoundInf)));
    }
    if (!info.source.knows("skipped") && values.has(LogField::Scale)) {
        const DerivedSkips skips = options.follows ? DerivedSkips() : deriveSkips(values);
        if (skips.isCertain) {
            values.replace(LogField::Skipped, skips.steps, std::vector<double>(skips.steps.size(), 1));
            know(LogField::Skipped, skips.how);
            if (!values.has(LogField::FoundInf)) {
                values.replace(LogField::FoundInf, skips.steps, std::vector<double>(skips.steps.size(), 1));
                know(LogField::FoundInf, skips.how);
            }
        }
        if (!skips.how.empty()) {
            info.notes.push_back((skips.isCertain ? "skipped steps are " : "") + skips.how);
        }
    }
}

void LogImport::Impl::settleRun(const RunKey& key, PendingRun& run)
{
    run.values.settle();
    if (run.values.lastStep() < 0) {
        return;
    }
    ImportedRun info;
    info.name = nameOf(key);
    info.source.file = std::filesystem::absolute(path).lexically_normal().string();
    info.source.format = reader->format();
    info.source.run = reader->runs().at(key.first)
        + (key.second.empty() ? "" : (reader->runs().at(key.first).empty() ? "" : ", ") + key.second);
    info.firstStep = run.values.firstStep();
    info.lastStep = run.values.lastStep();
    for (const LogSeam& seam : run.values.seams()) {
        info.notes.push_back(seam.reached >= seam.step
                ? fmt::format(
                    "the run was begun again at step {}, having reached {}: what it made again is kept ({} dropped)",
                    seam.step, seam.reached, times(seam.dropped, "value", "values"))
                : fmt::format("the run goes on in another file at step {}", seam.step));
    }
    if (run.values.wasUnsorted()) {
        info.notes.emplace_back("the rows are in no order of steps: they were sorted");
    }
    if (run.values.repeated() > 0) {
        info.notes.push_back(fmt::format("{} for a step that had one: the later one is kept",
            times(run.values.repeated(), "value came", "values came")));
    }
    deriveFields(run, info);
    run.values.forEachStep([&info](std::int64_t, const auto&, const auto&) { ++info.steps; });
    runs.push_back(std::move(info));
    keys.push_back(key);
}

LogImport::LogImport(const std::filesystem::path& path, LogImportOptions options)
    : m_impl(std::make_unique<Impl>(path, std::move(options)))
{
}

LogImport::~LogImport() = default;

const LogSurvey& LogImport::survey() const
{
    return m_impl->survey;
}

bool LogImport::readOn(std::uint64_t mostBytes)
{
    return m_impl->reader->read(mostBytes, [this](const LogRow& row) { m_impl->take(row); });
}

double LogImport::progress() const
{
    const std::uint64_t there = m_impl->reader->bytesThere();
    return there == 0 ? 1 : static_cast<double>(m_impl->reader->bytesRead()) / static_cast<double>(there);
}

void LogImport::settle()
{
    if (!m_impl->options.follows) {
        m_impl->reader->finish([this](const LogRow& row) { m_impl->take(row); });
    }
    for (const RunKey& key : m_impl->order) {
        m_impl->settleRun(key, m_impl->pending.at(key));
    }
    if (m_impl->runs.empty()) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format(
                "{} has no step with a number that means something here: say with --map which column is what, as "
                "in --map loss=NAME --map step=NAME",
                m_impl->path.string()));
    }
}

const std::vector<ImportedRun>& LogImport::runs() const
{
    return m_impl->runs;
}

std::vector<std::string> LogImport::notes() const
{
    std::vector<std::string> notes = m_impl->reader->notes();
    if (!m_impl->survey.hasSteps && !m_impl->map.columnOf(LogField::Step)) {
        notes.emplace_back("no column is the step, so rows are counted from 0");
    }
    if (m_impl->rowsWithoutStep > 0) {
        notes.push_back(fmt::format("{} no step: passed over", times(m_impl->rowsWithoutStep, "row has", "rows have")));
    }
    if (m_impl->rowsDamaged > 0) {
        notes.push_back(fmt::format("{} a step that is no whole number from 0 on: passed over",
            times(m_impl->rowsDamaged, "row has", "rows have")));
    }
    if (m_impl->late > 0) {
        notes.push_back(fmt::format("{} too late for a step long past: import the log again to have them",
            times(m_impl->late, "value came", "values came")));
    }
    return notes;
}

void LogImport::Impl::start(RunWriter& writer, std::size_t index)
{
    const PendingRun& run = pending.at(keys[index]);
    const ImportedRun& info = runs[index];
    const double now = unixSeconds();
    RunStart start;
    start.lane = info.lane;
    start.config.name = info.name;
    start.experimentName = path.filename().empty() ? path.parent_path().filename().string() : path.filename().string();
    start.experiment = nlohmann::json::object();
    start.config.document = nlohmann::json::object();
    start.unixSeconds = isUnixTime(run.firstTime) ? run.firstTime : now;
    writer.importStarted(start, info.source);
    for (const LogSeam& seam : run.values.seams()) {
        Event event;
        event.kind = EventKind::Resumed;
        event.lane = info.lane;
        event.step = seam.step;
        event.path = info.source.file;
        event.text = seam.reached >= seam.step
            ? fmt::format("the log goes back here from step {}; what was made again is kept", seam.reached)
            : std::string("the log goes on here in another file");
        event.unixSeconds = now;
        writer.eventHappened(event);
    }
    LiveRun& written = live[index];
    written.maker = std::make_unique<RecordMaker>(info.lane, isUnixTime(run.firstTime) ? run.firstTime : 0);
    written.summary.validationLoss = std::numeric_limits<double>::quiet_NaN();
    written.summary.validationAccuracy = std::numeric_limits<double>::quiet_NaN();
    written.summary.minLoss = std::numeric_limits<double>::quiet_NaN();
    written.summary.finalLoss = std::numeric_limits<double>::quiet_NaN();
    written.summary.finalScale = std::numeric_limits<double>::quiet_NaN();
    written.summary.stepsPerSecond = std::numeric_limits<double>::quiet_NaN();
    written.summary.unixSeconds = isUnixTime(run.lastTime) ? run.lastTime : now;
    written.isWritten = true;
}

void LogImport::Impl::writeRecords(RunWriter& writer, std::size_t index, const std::function<bool()>& isWanted)
{
    LiveRun& written = live[index];
    std::vector<StepRecord> records;
    bool goesOn = true;
    const auto hand = [&] {
        writer.stepsRecorded(records);
        records.clear();
        writer.flush();
        if (const std::string problem = writer.problem(); !problem.empty()) {
            throw Error(ErrorCode::Io, problem);
        }
        goesOn = !isWanted || isWanted();
    };
    pending.at(keys[index])
        .values.forEachStep(
            [&](std::int64_t step, const LogValues::Values& values, const LogValues::Present& isPresent) {
                if (!goesOn) {
                    return;
                }
                records.push_back(written.maker->recordOf(step, values, isPresent));
                addTo(written.summary, records.back());
                if (options.follows) {
                    written.tail.push_back(records.back());
                    if (written.tail.size() > liveTail) {
                        written.tail.pop_front();
                    }
                }
                if (records.size() == slice) {
                    hand();
                }
            });
    hand();
    if (!goesOn) {
        endRun(writer, index, RunStatus::Stopped, "The import was stopped before all of the log was written.");
    } else if (!options.follows) {
        endRun(writer, index, RunStatus::Finished, {});
    }
    pending.erase(keys[index]);
}

void LogImport::write(RunWriter& writer, std::uint32_t firstLane, const std::function<bool()>& isWanted)
{
    m_impl->live.resize(m_impl->runs.size());
    for (std::size_t i = 0; i < m_impl->runs.size(); ++i) {
        if (isWanted && !isWanted()) {
            return;
        }
        m_impl->runs[i].lane = firstLane + static_cast<std::uint32_t>(i);
        m_impl->start(writer, i);
        m_impl->writeRecords(writer, i, isWanted);
    }
    m_impl->pending.clear();
}

void LogImport::Impl::endRun(RunWriter& writer, std::size_t index, RunStatus status, const std::string& message)
{
    RunSummary& summary = live[index].summary;
    summary.status = status;
    summary.message = message;
    writer.runEnded(runs[index].lane, summary);
    live[index].isWritten = false;
}

/// A row of a log whose beginning is written.
void LogImport::Impl::takeLive(const LogRow& row)
{
    if (reader->columns().size() != columnsSeen) {
        columnsSeen = reader->columns().size();
        map.learn(reader->columns());
    }
    const auto known = std::ranges::find(keys, keyOf(row));
    if (known == keys.end()) {
        isStale = true; // a run of its own
        return;
    }
    if (const auto step = stepOf(row)) {
        touch(static_cast<std::size_t>(known - keys.begin()), row, *step);
    }
}

void LogImport::Impl::touch(std::size_t index, const LogRow& row, std::int64_t step)
{
    LiveRun& run = live[index];
    LogValues::Values values;
    values.fill(std::numeric_limits<double>::quiet_NaN());
    LogValues::Present isPresent {};
    bool hasAny = false;
    for (const LogCell& cell : row.cells) {
        const auto field = map.fieldOf(cell.column);
        const bool counts = field && cell.isNumber && *field != LogField::Step && *field != LogField::Run
            && (!std::isnan(cell.number) || mayBeNaN(*field))
            && (!isFlag(*field) || runs[index].source.knows(mantissa::nameOf(*field)));
        if (counts) {
            values[static_cast<std::size_t>(*field)] = cell.number;
            isPresent[static_cast<std::size_t>(*field)] = true;
            hasAny = true;
        }
    }
    if (!hasAny) {
        return;
    }
    const std::int64_t last = run.tail.empty() ? -1 : run.tail.back().step;
    const auto place = std::ranges::lower_bound(run.tail, step, {}, &StepRecord::step);
    const bool isThere = place != run.tail.end() && place->step == step;
    const auto lead = static_cast<std::size_t>(runs[index].source.knows("loss") ? LogField::Loss : LogField::Scale);
    if (step < last
        && (row.beginsFile || (isPresent[lead] && (!isThere || run.maker->has(*place, static_cast<LogField>(lead)))))) {
        isStale = true; // it goes back
        return;
    }
    if (!std::isnan(row.unixSeconds)) {
        values[static_cast<std::size_t>(LogField::WallTime)] = row.unixSeconds;
        isPresent[static_cast<std::size_t>(LogField::WallTime)] = true;
    }
    if (!isThere && step < last) {
        ++late;
        return;
    }
    if (!isThere) {
        run.tail.push_back(run.maker->recordOf(step, values, isPresent));
        if (run.tail.size() > liveTail) {
            run.tail.pop_front();
        }
        ++runs[index].steps;
        runs[index].lastStep = step;
        addTo(run.summary, run.tail.back());
        fresh.push_back(run.tail.back());
        return;
    }
    run.maker->addTo(*place, values, isPresent);
    fresh.push_back(*place);
}

/// A file that is being written anew may hold nothing, or no more than its header, for a moment.
bool LogImport::Impl::canBeginAnew() const
{
    try {
        return surveyLog(path, options.columns).rows > 0;
    } catch (const Error& error) {
        if (error.code() == ErrorCode::InvalidArgument) {
            return false;
        }
        throw;
    }
}

std::int64_t LogImport::poll(RunWriter& writer)
{
    Impl& impl = *m_impl;
    if (impl.reader->wasReplaced()) {
        impl.isStale = impl.canBeginAnew();
        return 0;
    }
    impl.fresh.clear();
    const RowTaker take = [&impl](const LogRow& row) {
        if (!impl.isStale) {
            impl.takeLive(row);
        }
    };
    while (!impl.isStale && impl.reader->read(std::uint64_t {4} << 20U, take)) { }
    for (std::size_t i = 0; i < impl.runs.size(); ++i) {
        ImportSource& source = impl.runs[i].source;
        const std::size_t before = source.fields.size();
        for (const StepRecord& record : impl.fresh) {
            if (record.lane == impl.runs[i].lane) {
                impl.live[i].maker->learn(source, record, impl.map, impl.reader->columns());
            }
        }
        if (source.fields.size() != before) {
            writer.importLearned(impl.runs[i].lane, source);
        }
    }
    for (std::size_t i = 0; i < impl.fresh.size(); i += slice) {
        writer.stepsRecorded(std::span(impl.fresh).subspan(i, std::min(slice, impl.fresh.size() - i)));
        writer.flush();
    }
    return static_cast<std::int64_t>(impl.fresh.size());
}

bool LogImport::isStale() const
{
    return m_impl->isStale;
}

bool LogImport::isOver() const
{
    return m_impl->reader->isDamaged();
}

void LogImport::end(RunWriter& writer, const std::string& message)
{
    for (std::size_t i = 0; i < m_impl->live.size(); ++i) {
        if (m_impl->live[i].isWritten) {
            m_impl->live[i].summary.unixSeconds = unixSeconds();
            m_impl->endRun(writer, i, RunStatus::Finished, message);
        }
    }
    writer.flush();
}

} // namespace mantissa
