#include "engine/import/log_survey.h"

#include "engine/core/error.h"
#include "engine/import/log_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace mantissa {

namespace {

constexpr std::uint64_t mostBytes = std::uint64_t {16} << 20U;
constexpr std::size_t previewRows = 8;
constexpr std::size_t previewColumns = 200;
constexpr std::size_t mostNames = 256;

/// Names of runs come again and again; what differs from row to row is none.
class NameCount
{
public:
    void add(std::uint32_t column, std::string_view text)
    {
        auto& names = m_names[column];
        if (names.size() < mostNames) {
            names.emplace(text);
        }
    }

    [[nodiscard]] std::size_t of(std::uint32_t column) const
    {
        const auto found = m_names.find(column);
        return found == m_names.end() ? 0 : found->second.size();
    }

private:
    std::map<std::uint32_t, std::set<std::string, std::less<>>> m_names;
};

} // namespace

LogSurvey surveyLog(const std::filesystem::path& path, const ColumnMap::Choices& choices)
{
    const std::unique_ptr<LogReader> reader = openLog(path);
    LogSurvey survey;
    survey.format = reader->format();
    std::error_code ignored;
    survey.isFolder = std::filesystem::is_directory(path, ignored);
    survey.map = ColumnMap(choices);
    std::vector<bool> exceedsOne;
    NameCount names;
    std::uint64_t numbers = 0;
    const auto take = [&](const LogRow& row) {
        ++survey.rows;
        survey.hasSteps = survey.hasSteps || row.step.has_value();
        const bool shows = survey.preview.size() < previewRows;
        if (shows) {
            survey.preview.emplace_back();
            survey.previewSteps.push_back(row.step.value_or(-1));
        }
        for (const LogCell& cell : row.cells) {
            if (cell.column >= survey.columns.size()) {
                survey.columns.resize(cell.column + 1);
                exceedsOne.resize(cell.column + 1);
            }
            LogColumn& column = survey.columns[cell.column];
            ++(cell.isNumber ? column.numbers : column.texts);
            numbers += cell.isNumber ? 1U : 0U;
            exceedsOne[cell.column] = exceedsOne[cell.column] || cell.number > 1 || cell.number < 0;
            const std::string text = cell.text.empty() ? fmt::format("{:g}", cell.number) : std::string(cell.text);
            names.add(cell.column, text);
            if (shows && cell.column < previewColumns) {
                auto& cells = survey.preview.back();
                cells.resize(std::max<std::size_t>(cells.size(), cell.column + 1));
                cells[cell.column] = text;
            }
        }
    };
    survey.isWhole = !reader->read(mostBytes, take);
    if (survey.isWhole) {
        reader->finish(take);
    }
    survey.bytes = reader->bytesThere();
    survey.runs = reader->runs();
    survey.notes = reader->notes();
    const std::vector<std::string>& columns = reader->columns();
    survey.columns.resize(columns.size());
    exceedsOne.resize(columns.size());
    for (std::size_t i = 0; i < columns.size(); ++i) {
        survey.columns[i].name = columns[i];
    }
    if (numbers == 0) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("{} holds no row of numbers yet{}", path.string(),
                survey.notes.empty() ? std::string() : ": " + survey.notes.front()));
    }
    if (survey.hasSteps) {
        for (const LogField field : {LogField::Step, LogField::Run, LogField::WallTime}) {
            survey.map.exclude(field);
        }
    }
    if (survey.runs.size() > 1 || (survey.runs.size() == 1 && !survey.runs.front().empty())) {
        survey.map.exclude(LogField::Run);
    }
    survey.map.requireChosen(columns);
    survey.map.learn(columns);
    // What its numbers show it not to be.
    if (const auto run = survey.map.columnOf(LogField::Run); run && !survey.map.isChosen(LogField::Run)) {
        const std::size_t different = names.of(*run);
        constexpr std::uint64_t enoughRows = 20; // to tell a name from a value
        if (different >= mostNames || (survey.rows >= enoughRows && different * 2 > survey.rows)) {
            survey.map.drop(LogField::Run);
        }
    }
    const auto accuracy = survey.map.columnOf(LogField::ValidationAccuracy);
    if (accuracy && !survey.map.isChosen(LogField::ValidationAccuracy) && exceedsOne[*accuracy]) {
        survey.map.drop(LogField::ValidationAccuracy);
        survey.notes.push_back(fmt::format(
            "\"{}\" is no share between 0 and 1, so it is not taken for the accuracy", survey.columns[*accuracy].name));
    }
    for (const LogField field : allLogFields()) {
        const auto column = survey.map.columnOf(field);
        if (column && !survey.map.isChosen(field) && field != LogField::Run && survey.columns[*column].numbers == 0
            && survey.columns[*column].texts > 0) {
            survey.map.drop(field);
        }
    }
    return survey;
}

} // namespace mantissa
