// A table of which one column is to be predicted from the others.
#include "engine/core/error.h"
#include "engine/core/nearest_name.h"
#include "engine/core/text.h"
#include "engine/data/csv_column.h"
#include "engine/data/sources.h"
#include "engine/data/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace mantissa {

namespace {

constexpr std::size_t mostCategories = 256; // of a column to predict from
constexpr std::size_t mostClasses = 1000;
constexpr std::size_t mostNumericClasses = 100;
constexpr std::size_t mostNumbers = 100'000'000;

[[noreturn]] void refuse(const std::string& file, const std::string& what)
{
    throw Error(ErrorCode::InvalidArgument, fmt::format("{} {}", file, what));
}

/// A row names the columns if one of its cells is a text above numbers; or, in a table of texts alone, if none of its
/// cells comes again below it.
bool looksLikeHeader(const CsvTable& table)
{
    bool hasNumber = false;
    bool isRepeated = false;
    for (std::size_t column = 0; column < table.columns(); ++column) {
        std::size_t numbers = 0;
        for (std::size_t row = 1; row < table.rows(); ++row) {
            numbers += parseCsvNumber(table.cell(row, column)) ? 1U : 0U;
            isRepeated = isRepeated || table.cell(row, column) == table.cell(0, column);
        }
        const bool isNumber = parseCsvNumber(table.cell(0, column)).has_value();
        if (!isNumber && areNumbers(numbers, table.rows() - 1)) {
            return true;
        }
        hasNumber = hasNumber || isNumber;
    }
    return !hasNumber && !isRepeated;
}

std::vector<CsvColumn> columnsOf(const CsvTable& table, const DataConfig& config, const std::string& file)
{
    if (table.rows() == 0) {
        refuse(file, "holds no rows");
    }
    if (table.columns() == 1) {
        refuse(file,
            "has one column only; a column to predict and at least one to predict it from are needed. Cells are "
            "separated by commas, semicolons or tabs");
    }
    const bool hasHeader = config.header == "yes" || (config.header == "auto" && looksLikeHeader(table));
    const std::size_t firstRow = hasHeader ? 1 : 0;
    if (table.rows() - firstRow < 2) {
        refuse(file,
            fmt::format("holds {}; at least 2 rows are needed",
                !hasHeader              ? "one row"
                    : table.rows() == 1 ? "a header only"
                                        : "a header and one row"));
    }
    std::vector<CsvColumn> columns;
    for (std::size_t i = 0; i < table.columns(); ++i) {
        std::string name(hasHeader ? table.cell(0, i) : "");
        if (name.empty()) {
            name = fmt::format("column {}", i + 1);
        }
        columns.push_back({.table = table, .index = i, .firstRow = firstRow, .name = std::move(name), .file = file});
    }
    return columns;
}

std::size_t targetColumn(const std::vector<CsvColumn>& columns, const std::string& target, const std::string& file)
{
    if (target.empty()) {
        return columns.size() - 1;
    }
    const auto isNamed = [&target](const CsvColumn& column) { return column.name == target; };
    const auto named = std::ranges::count_if(columns, isNamed);
    if (named > 1) {
        refuse(file,
            fmt::format(
                "has {} columns called \"{}\"; give the number of the one that data.target means", named, target));
    }
    if (named == 1) {
        return std::ranges::find_if(columns, isNamed)->index;
    }
    std::size_t number = 0;
    const auto [end, code] = std::from_chars(target.data(), target.data() + target.size(), number);
    if (code == std::errc {} && end == target.data() + target.size() && number >= 1 && number <= columns.size()) {
        return number - 1;
    }
    std::vector<std::string> names;
    for (const CsvColumn& column : columns) {
        names.push_back(column.name);
    }
    constexpr std::size_t mostListed = 20;
    const std::string nearest = nearestName(target, names);
    refuse(file,
        fmt::format("has no column \"{}\" for data.target; {}", target,
            nearest.empty() && names.size() > mostListed ? fmt::format("it has {}, by number from 1", names.size())
                                                         : suggestion(target, names)));
}

/// The number in the format of a sample.
float toInput(const CsvColumn& column, std::size_t sample, double value)
{
    const auto input = static_cast<float>(value);
    if (!std::isfinite(input)) {
        column.refuse(
            sample, fmt::format("{} is too large for numbers of 32 bits; scale the column", column.cell(sample)));
    }
    return input;
}

void setClasses(Dataset& dataset, const CsvColumn& column, std::size_t classes)
{
    if (classes < 2) {
        column.refuse(0, fmt::format("all cells of the target hold {}; there is nothing to learn", column.cell(0)));
    }
    dataset.classes = static_cast<std::int64_t>(classes);
    dataset.labels.resize(column.size());
}

void addTarget(Dataset& dataset, const CsvColumn& column)
{
    if (!column.isNumeric()) {
        const auto classes = column.categories(mostClasses, "Choose another column as data.target");
        setClasses(dataset, column, classes.size());
        dataset.classNames.assign(classes.begin(), classes.end());
        for (std::size_t i = 0; i < column.size(); ++i) {
            dataset.labels[i]
                = static_cast<std::int32_t>(std::ranges::lower_bound(classes, column.cell(i)) - classes.begin());
        }
        return;
    }
    const std::vector<double> numbers = column.numbers();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        dataset.targets.push_back(toInput(column, i, numbers[i]));
    }
    dataset.targetWidth = 1;
    std::vector<float> distinct = dataset.targets;
    std::ranges::sort(distinct);
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    if (distinct.size() > mostNumericClasses) {
        return;
    }
    setClasses(dataset, column, distinct.size());
    for (const float number : distinct) {
        dataset.classNames.push_back(fmt::format("{}", number));
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        dataset.labels[i]
            = static_cast<std::int32_t>(std::ranges::lower_bound(distinct, dataset.targets[i]) - distinct.begin());
    }
}

/// What the inputs of one column begin at, in a sample, and its categories; none: it is one number.
struct InputColumn
{
    const CsvColumn& column;
    std::size_t begin;
    std::vector<std::string_view> categories;
};

std::vector<InputColumn> inputColumns(const std::vector<CsvColumn>& columns, std::size_t target, std::size_t& width)
{
    std::vector<InputColumn> inputs;
    width = 0;
    for (const CsvColumn& column : columns) {
        if (column.index == target) {
            continue;
        }
        std::vector<std::string_view> categories;
        if (!column.isNumeric()) {
            categories = column.categories(mostCategories, "Remove the column, or merge rare texts");
        }
        inputs.push_back({.column = column, .begin = width, .categories = std::move(categories)});
        width += std::max<std::size_t>(inputs.back().categories.size(), 1);
        if (width * column.size() > mostNumbers) {
            column.refuse(0,
                fmt::format("the table makes more than {} inputs, each category being one; give fewer rows or columns",
                    mostNumbers));
        }
    }
    return inputs;
}

struct Spread
{
    double mean = 0;
    double deviation = 1;
};

/// Over the training samples; a column that is constant there keeps its unit.
Spread spreadOf(const std::vector<double>& values, const std::vector<std::uint32_t>& train)
{
    const auto n = static_cast<double>(train.size());
    double sum = 0;
    for (const std::uint32_t sample : train) {
        sum += values[sample];
    }
    const double mean = sum / n;
    double squares = 0;
    for (const std::uint32_t sample : train) {
        squares += (values[sample] - mean) * (values[sample] - mean);
    }
    return {.mean = mean, .deviation = squares > 0 ? std::sqrt(squares / n) : 1};
}

void addInputs(Dataset& dataset, const InputColumn& input, bool standardise)
{
    const auto width = static_cast<std::size_t>(dataset.features);
    const CsvColumn& column = input.column;
    if (!input.categories.empty()) {
        for (std::size_t i = 0; i < column.size(); ++i) {
            const auto category = std::ranges::lower_bound(input.categories, column.cell(i));
            dataset.inputs[i * width + input.begin + static_cast<std::size_t>(category - input.categories.begin())] = 1;
        }
        return;
    }
    const std::vector<double> values = column.numbers();
    const Spread spread = standardise ? spreadOf(values, dataset.train) : Spread {};
    for (std::size_t i = 0; i < values.size(); ++i) {
        dataset.inputs[i * width + input.begin] = toInput(column, i, (values[i] - spread.mean) / spread.deviation);
    }
}

} // namespace

Dataset loadCsv(const DataRequest& request)
{
    const std::unique_ptr<ByteSource> source = openFile(request.path);
    const CsvTable table = readCsv(*source);
    const std::string& file = source->name();
    const std::vector<CsvColumn> columns = columnsOf(table, request.config, file);
    const std::size_t target = targetColumn(columns, request.config.target, file);

    Dataset dataset;
    addTarget(dataset, columns[target]);
    std::size_t width = 0;
    const std::vector<InputColumn> inputs = inputColumns(columns, target, width);
    dataset.samples = static_cast<std::int64_t>(columns[target].size());
    dataset.features = static_cast<std::int64_t>(width);
    dataset.sampleShape = {dataset.features};
    dataset.inputs.resize(columns[target].size() * width);
    splitAtRandom(dataset, request.config.validationShare, request.seed);
    for (const InputColumn& input : inputs) {
        addInputs(dataset, input, request.config.standardise);
    }
    return dataset;
}

} // namespace mantissa
