#include "ui/views/format_explorer.h"

#include "engine/formats/format_play.h"
#include "ui/language/language.h"
#include "ui/style/number_format.h"
#include "ui/style/theme.h"
#include "ui/views/bit_row.h"
#include "ui/views/number_field.h"
#include "ui/views/range_line.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QScreen>
#include <QScrollArea>
#include <QTableWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <cmath>

namespace mantissa {

namespace {

constexpr std::int64_t mostTerms = 100'000; // less than a frame in all formats together

/// As parseNumber(), and "inf", "-inf", "nan".
std::optional<double> parseAny(const QString& text)
{
    const QString word = text.trimmed().toLower();
    if (word == QLatin1String("inf") || word == QLatin1String("-inf")) {
        return word.startsWith(QLatin1Char('-')) ? -INFINITY : INFINITY;
    }
    return word == QLatin1String("nan") ? std::optional<double>(NAN) : parseNumber(text);
}

QString titleOf(const FloatFormat& format)
{
    return QString::fromUtf8(format.title.data(), static_cast<qsizetype>(format.title.size()));
}

QString kindOf(const FloatFormat& format, double value)
{
    const double magnitude = std::abs(value);
    return std::isnan(value)                  ? FormatExplorer::tr("NaN")
        : std::isinf(value)                   ? FormatExplorer::tr("infinite")
        : magnitude == 0                      ? FormatExplorer::tr("zero")
        : magnitude < format.smallestNormal() ? FormatExplorer::tr("subnormal")
                                              : FormatExplorer::tr("normal");
}

} // namespace

FormatExplorer::FormatExplorer(QWidget* parent)
    : QDialog(parent)
    , m_input(new QLineEdit)
    , m_range(new RangeLine)
{
    setWindowTitle(tr("Format explorer"));
    m_input->setAccessibleName(tr("Number"));
    m_input->setToolTip(tr("Any number: 0.12345, 1e-8, 2^-24, inf, nan"));
    m_input->setFont(tabularFont(font()));
    auto* inner = new QWidget;
    auto* column = new QVBoxLayout(inner);
    auto* top = new QHBoxLayout;
    auto* label = new QLabel(tr("&Number"));
    label->setBuddy(m_input);
    top->addWidget(label);
    top->addWidget(m_input, 1);
    column->addLayout(top);
    column->addWidget(makeRows());
    column->addWidget(m_range);
    column->addWidget(makeCalculation());
    column->addStretch(1);
    auto* scroll = new QScrollArea;
    scroll->setWidget(inner);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(scroll);
    connect(m_input, &QLineEdit::editingFinished, this, &FormatExplorer::enter);
    connect(m_range, &RangeLine::picked, this, &FormatExplorer::setValue);
    setValue(m_value);
    calculate();
    const QSize wanted(fontMetrics().averageCharWidth() * 170, fontMetrics().height() * 42);
    resize(wanted.boundedTo(screen()->availableSize() * 9 / 10));
    whenLanguageChanges(this, [this] {
        for (const Row& each : m_rows) {
            display(each);
        }
        calculate();
    });
}

QWidget* FormatExplorer::makeRows()
{
    auto* part = new QWidget;
    auto* grid = new QGridLayout(part);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(12);
    const std::array<QString, 6> heads {tr("Format"), tr("Bits"), tr("Value"), tr("Error"), tr("Spacing"), tr("Kind")};
    for (std::size_t i = 0; i < heads.size(); ++i) {
        auto* head = new QLabel(heads[i]);
        head->setForegroundRole(QPalette::PlaceholderText);
        grid->addWidget(head, 0, static_cast<int>(i));
    }
    for (const FloatFormat& format : floatFormats()) {
        addRow(grid, format);
    }
    grid->setColumnStretch(2, 1);
    return part;
}

void FormatExplorer::addRow(QGridLayout* grid, const FloatFormat& format)
{
    Row row {.format = &format, .bits = new BitRow(format)};
    row.bits->setAccessibleName(tr("Bits in %1").arg(titleOf(format)));
    const int at = grid->rowCount();
    grid->addWidget(new QLabel(titleOf(format)), at, 0);
    grid->addWidget(row.bits, at, 1);
    int place = 2;
    for (QLabel** label : {&row.value, &row.error, &row.spacing, &row.kind}) {
        *label = new QLabel;
        (*label)->setFont(tabularFont(font()));
        (*label)->setTextInteractionFlags(Qt::TextSelectableByMouse);
        grid->addWidget(*label, at, place++);
    }
    row.value->setAccessibleName(tr("Value in %1").arg(titleOf(format)));
    connect(row.bits, &BitRow::flipped, this, [this, &format](std::uint32_t bits) { setValue(format.value(bits)); });
    m_rows.push_back(row);
}

void FormatExplorer::enter()
{
    if (const auto number = parseAny(m_input->text())) {
        setValue(*number);
    } else {
        m_input->setText(formatExact(m_value));
    }
}

void FormatExplorer::setValue(double value)
{
    m_value = value;
    m_input->setText(formatExact(value));
    m_range->setValue(value);
    for (const Row& row : m_rows) {
        display(row);
    }
}

void FormatExplorer::display(const Row& row) const
{
    const FloatFormat& format = *row.format;
    const double rounded = format.value(format.nearest(m_value));
    const double spacing = format.spacing(rounded);
    row.bits->setBits(format.nearest(m_value));
    row.value->setText(formatExact(rounded));
    row.value->setToolTip(
        tr("The next lower is %1, the next higher %2")
            .arg(formatExact(format.neighbour(rounded, false)), formatExact(format.neighbour(rounded, true))));
    const double error = rounded - m_value;
    row.error->setText(error == 0 ? tr("exact")
            : std::isfinite(error)
            ? tr("%1 (%2 ulp)").arg(formatValue(error), QLocale().toString(std::abs(error) / spacing, 'f', 2))
            : tr("lost"));
    row.spacing->setText(std::isnan(spacing) ? QString() : formatValue(spacing));
    row.kind->setText(kindOf(format, rounded));
}

// --- calculation ---

QWidget* FormatExplorer::makeCalculation()
{
    auto* part = new QWidget;
    auto* column = new QVBoxLayout(part);
    column->setContentsMargins(0, 8, 0, 0);
    auto* row = new QHBoxLayout;
    const auto add = [&](const QString& name, const QString& text, const QString& hint) {
        auto* field = new QLineEdit(text);
        field->setAccessibleName(name);
        field->setToolTip(hint);
        auto* label = new QLabel(name);
        label->setBuddy(field);
        row->addWidget(label);
        row->addWidget(field, 1);
        connect(field, &QLineEdit::textChanged, this, &FormatExplorer::calculate);
        return field;
    };
    m_a = add(tr("a"), QStringLiteral("1.001"), tr("The first operand, and the term of the running sum"));
    m_b = add(tr("b"), QStringLiteral("1.001"), tr("The second operand"));
    m_c = add(tr("c"), QStringLiteral("-1.002"), tr("What is added to the product"));
    m_n = add(tr("n"), QStringLiteral("5000"), tr("Terms of the running sum, at most %1").arg(formatCount(mostTerms)));
    column->addLayout(row);
    m_results = new QTableWidget(static_cast<int>(floatFormats().size()), 6);
    m_results->setHorizontalHeaderLabels({tr("Format"), tr("a + b"), tr("a \u00D7 b"),
        tr("a \u00D7 b + c, two roundings"), tr("fused"), tr("a + a + \u2026, n times")});
    m_results->verticalHeader()->hide();
    m_results->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_results->setFont(tabularFont(font()));
    m_results->setAccessibleName(tr("Results in every format"));
    m_results->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_results->horizontalHeader()->setStretchLastSection(true);
    m_results->verticalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_results->setMinimumHeight((fontMetrics().height() + 10) * (static_cast<int>(floatFormats().size()) + 1) + 8);
    column->addWidget(m_results);
    return part;
}

void FormatExplorer::calculate()
{
    const auto a = parseAny(m_a->text());
    const auto b = parseAny(m_b->text());
    const auto c = parseAny(m_c->text());
    const auto n = parseNumber(m_n->text());
    const bool isCount = n && *n >= 1 && *n <= static_cast<double>(mostTerms) && *n == std::floor(*n);
    int row = 0;
    for (const FloatFormat& format : floatFormats()) {
        QStringList cells {titleOf(format)};
        cells << (a && b ? formatExact(addIn(format, *a, *b)) : QString());
        cells << (a && b ? formatExact(multiplyIn(format, *a, *b)) : QString());
        cells << (a && b && c ? formatExact(multiplyAddIn(format, *a, *b, *c, false)) : QString());
        cells << (a && b && c ? formatExact(multiplyAddIn(format, *a, *b, *c, true)) : QString());
        QString sum;
        if (a && isCount) {
            const RunningSum running = runningSum(format, *a, static_cast<std::int64_t>(*n));
            sum = running.stuckAfter ? tr("%1, and stays there after %2 terms")
                                           .arg(formatExact(running.result), formatCount(*running.stuckAfter))
                                     : formatExact(running.result);
        }
        cells << sum;
        for (int i = 0; i < cells.size(); ++i) {
            auto* item = new QTableWidgetItem(cells[i]);
            item->setTextAlignment((i == 0 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
            m_results->setItem(row, i, item);
        }
        ++row;
    }
}

} // namespace mantissa
