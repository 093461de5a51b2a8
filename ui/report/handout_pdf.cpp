#include "ui/report/handout_pdf.h"

#include "engine/protocol/svg_plot.h"
#include "ui/plots/curve_export.h"
#include "ui/style/number_format.h"
#include "ui/style/reference_picture.h"
#include "ui/style/theme.h"
#include "ui/style/verdict_words.h"

#include <QAbstractTextDocumentLayout>
#include <QCoreApplication>
#include <QPageSize>
#include <QPainter>
#include <QPdfWriter>
#include <QSvgRenderer>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextDocument>
#include <QTextDocumentFragment>
#include <QTextList>
#include <QTextObjectInterface>
#include <QTextTable>

#include <algorithm>
#include <cmath>

namespace mantissa {

namespace {

constexpr int pixelsPerInch = 96;
constexpr double pageWidth = 210 / 25.4 * pixelsPerInch;
constexpr double pageHeight = 297 / 25.4 * pixelsPerInch;
constexpr double margin = 14 / 25.4 * pixelsPerInch;
constexpr double width = pageWidth - 2 * margin;
constexpr double footHeight = 20;
constexpr double textHeight = pageHeight - 2 * margin - footHeight;
constexpr int typePixels = 12;
constexpr int pictureObject = QTextFormat::UserObject + 1;
constexpr int pictureSvg = QTextFormat::UserProperty + 1;
constexpr int pictureSize = QTextFormat::UserProperty + 2;
const QColor ink(0x1c, 0x1c, 0x1c);
const QColor faint(0x5a, 0x5a, 0x5a);

QString tr(const char* text)
{
    return QCoreApplication::translate("Handout", text);
}

QString words(const std::string& text)
{
    return QString::fromStdString(text);
}

/// A plot in running text, drawn as lines rather than as a picture of dots.
class PictureObject : public QObject, public QTextObjectInterface
{
    Q_OBJECT
    Q_INTERFACES(QTextObjectInterface)
public:
    QSizeF intrinsicSize(QTextDocument*, int, const QTextFormat& format) override
    {
        return format.property(pictureSize).toSizeF();
    }

    void drawObject(QPainter* painter, const QRectF& area, QTextDocument*, int, const QTextFormat& format) override
    {
        QSvgRenderer renderer(format.property(pictureSvg).toByteArray());
        renderer.render(painter, area);
    }
};

// --- plots ---

double lastStepOf(const ReferenceRun& run)
{
    double last = 1;
    for (const ReferenceLane& lane : run.lanes) {
        if (!lane.loss.empty()) {
            last = std::max(last, lane.loss.back()[0]);
        }
    }
    return last;
}

/// Largest to smallest, from which on an axis is logarithmic.
SvgPlot::Axis axisFor(const ReferenceRun& run, ReferenceCurve ReferenceLane::*curve)
{
    constexpr double wide = 20;
    double low = std::numeric_limits<double>::infinity();
    double high = 0;
    for (const ReferenceLane& lane : run.lanes) {
        for (const auto& [step, value] : lane.*curve) {
            if (std::isfinite(value) && value > 0) {
                low = std::min(low, value);
                high = std::max(high, value);
            }
        }
    }
    return high > wide * low ? SvgPlot::Axis::Log10 : SvgPlot::Axis::Linear;
}

/// Without a legend: the table of lanes below has their colours.
SvgPlot plotOf(const ReferenceRun& run, const QString& title, ReferenceCurve ReferenceLane::*curve, double plotWidth,
    double plotHeight)
{
    const bool isScale = curve == &ReferenceLane::scale;
    SvgPlot plot {.title = title.toStdString(), .xLabel = tr("step").toStdString(), .xLast = lastStepOf(run)};
    plot.yAxis = isScale ? SvgPlot::Axis::Log2 : axisFor(run, curve);
    plot.width = plotWidth;
    plot.height = plotHeight;
    for (std::size_t lane = 0; lane < run.lanes.size(); ++lane) {
        SvgLine line {.color = referenceColor(run, lane, lightPalette()).name().toStdString()};
        line.points = run.lanes[lane].*curve;
        line.isStairs = isScale;
        line.dash = laneStyle(static_cast<int>(lane)) == Qt::SolidLine ? std::string() : std::string("5 3");
        plot.lines.push_back(std::move(line));
        if (isScale) {
            SvgMarks marks {.color = plot.lines.back().color};
            for (const std::int64_t step : run.lanes[lane].skips) {
                marks.at.push_back(static_cast<double>(step));
            }
            plot.marks.push_back(std::move(marks));
        }
    }
    return plot;
}

void insertPicture(QTextCursor& cursor, const SvgPlot& plot)
{
    QTextCharFormat format;
    format.setObjectType(pictureObject);
    format.setProperty(pictureSvg, QByteArray::fromStdString(svgOf(plot)));
    format.setProperty(pictureSize, QSizeF(plot.width, plot.height));
    cursor.insertText(QString(QChar::ObjectReplacementCharacter), format);
}

// --- text ---

QTextCharFormat typeOf(const QColor& color, bool isBold = false, double factor = 1)
{
    QTextCharFormat format;
    format.setForeground(color);
    format.setFontWeight(isBold ? QFont::Bold : QFont::Normal);
    QFont font(QStringLiteral("sans-serif"));
    font.setStyleHint(QFont::SansSerif);
    font.setPixelSize(static_cast<int>(std::lround(typePixels * factor)));
    format.setFont(font, QTextCharFormat::FontPropertiesSpecifiedOnly);
    format.setProperty(QTextFormat::FontPixelSize, font.pixelSize());
    return format;
}

void beginBlock(QTextCursor& cursor, double above)
{
    QTextBlockFormat format;
    format.setTopMargin(above);
    cursor.insertBlock(format);
}

QString valueText(const MetricValue& value)
{
    const auto* number = std::get_if<double>(&value);
    return number != nullptr ? formatValue(*number) : words(std::get<std::string>(value));
}

QString lossText(const ReferenceLane& lane)
{
    return lane.status == RunStatus::Diverged ? tr(QT_TRANSLATE_NOOP("Handout", "diverged"))
                                              : formatValue(lane.finalLoss);
}

QTextTable* insertTable(
    QTextCursor& cursor, const QStringList& heads, const QList<double>& percentages, std::size_t rows)
{
    QTextTableFormat format;
    format.setBorder(0);
    format.setCellPadding(1.5);
    format.setCellSpacing(0);
    format.setTopMargin(4);
    format.setWidth(QTextLength(QTextLength::PercentageLength, 100));
    QList<QTextLength> widths;
    for (const double share : percentages) {
        widths.append(QTextLength(QTextLength::PercentageLength, share));
    }
    format.setColumnWidthConstraints(widths);
    QTextTable* table = cursor.insertTable(static_cast<int>(rows) + 1, static_cast<int>(heads.size()), format);
    for (int column = 0; column < heads.size(); ++column) {
        table->cellAt(0, column).firstCursorPosition().insertText(heads[column], typeOf(ink, true));
    }
    return table;
}

void fillRow(QTextTable* table, int row, const QStringList& texts)
{
    for (int column = 0; column < texts.size(); ++column) {
        table->cellAt(row, column).firstCursorPosition().insertText(texts[column], typeOf(ink));
    }
}

void insertLanes(QTextCursor& cursor, const ReferenceRun& run)
{
    QTextTable* table = insertTable(cursor,
        {tr(QT_TRANSLATE_NOOP("Handout", "Lane")), tr(QT_TRANSLATE_NOOP("Handout", "Steps")),
            tr(QT_TRANSLATE_NOOP("Handout", "Last loss")), tr(QT_TRANSLATE_NOOP("Handout", "Accuracy")),
            tr(QT_TRANSLATE_NOOP("Handout", "Skipped")), tr(QT_TRANSLATE_NOOP("Handout", "Last scale"))},
        {40, 12, 12, 12, 12, 12}, run.lanes.size());
    for (std::size_t i = 0; i < run.lanes.size(); ++i) {
        const ReferenceLane& lane = run.lanes[i];
        fillRow(table, static_cast<int>(i) + 1,
            {QStringLiteral("  ") + words(lane.name), formatCount(lane.steps), lossText(lane),
                std::isnan(lane.accuracy) ? QStringLiteral("\u2013") : percent(lane.accuracy),
                formatCount(lane.skippedSteps),
                lane.finalScale == 1 ? QStringLiteral("1") : formatPowerOfTwo(lane.finalScale)});
        QTextCursor swatch = table->cellAt(static_cast<int>(i) + 1, 0).firstCursorPosition();
        swatch.insertText(QStringLiteral("\u25A0"), typeOf(referenceColor(run, i, lightPalette())));
    }
    cursor.movePosition(QTextCursor::End);
}

void insertJudgements(QTextCursor& cursor, const ReferenceRun& run)
{
    if (run.judgements.empty()) {
        return;
    }
    beginBlock(cursor, 8);
    cursor.insertText(tr(QT_TRANSLATE_NOOP("Handout", "What was checked, with its numbers")), typeOf(ink, true));
    QTextTable* table = insertTable(cursor,
        {QString(), tr(QT_TRANSLATE_NOOP("Handout", "Expected")), tr(QT_TRANSLATE_NOOP("Handout", "Came out"))},
        {4, 66, 30}, run.judgements.size());
    for (std::size_t i = 0; i < run.judgements.size(); ++i) {
        const Judgement& judgement = run.judgements[i];
        fillRow(table, static_cast<int>(i) + 1,
            {judgement.isMet ? QStringLiteral("\u2713") : QStringLiteral("\u2716"), words(judgement.that),
                QStringLiteral("%1 %2 %3")
                    .arg(valueText(judgement.left),
                        QString::fromUtf8(
                            nameOf(judgement.op).data(), static_cast<qsizetype>(nameOf(judgement.op).size())),
                        valueText(judgement.right))});
    }
    cursor.movePosition(QTextCursor::End);
}

void insertText(QTextCursor& cursor, const std::string& markdown)
{
    QTextDocument text;
    text.setDefaultFont(typeOf(ink).font());
    text.setMarkdown(words(markdown));
    for (QTextBlock block = text.begin(); block.isValid(); block = block.next()) {
        QTextBlockFormat format = block.blockFormat();
        format.setTopMargin(block.textList() != nullptr ? 1 : 5);
        format.setBottomMargin(0);
        QTextCursor(block).setBlockFormat(format);
    }
    beginBlock(cursor, 6);
    cursor.insertFragment(QTextDocumentFragment(&text));
}

void fill(QTextDocument& document, const Experiment& experiment, const ReferenceRun& run)
{
    constexpr double lossHeight = 200;
    constexpr double smallHeight = 150;
    QTextCursor cursor(&document);
    cursor.insertText(words(experiment.name), typeOf(ink, true, 1.6));
    if (experiment.claim) {
        beginBlock(cursor, 4);
        cursor.insertText(
            tr(QT_TRANSLATE_NOOP("Handout", "People say: \u201C%1\u201D")).arg(words(experiment.claim->says)),
            typeOf(ink));
        beginBlock(cursor, 2);
        cursor.insertText(verdictWords(words(experiment.claim->verdict)), typeOf(ink, true));
    }
    beginBlock(cursor, 6);
    insertPicture(
        cursor, plotOf(run, tr(QT_TRANSLATE_NOOP("Handout", "Loss")), &ReferenceLane::loss, width, lossHeight));
    beginBlock(cursor, 2);
    insertPicture(cursor,
        plotOf(run, tr(QT_TRANSLATE_NOOP("Handout", "Gradient norm")), &ReferenceLane::gradNorm, width / 2 - 1,
            smallHeight));
    insertPicture(cursor,
        plotOf(run, tr(QT_TRANSLATE_NOOP("Handout", "Scale, skipped steps above")), &ReferenceLane::scale,
            width / 2 - 1, smallHeight));
    insertLanes(cursor, run);
    insertText(cursor, experiment.text);
    insertJudgements(cursor, run);
}

void paintPages(QPdfWriter& writer, QPainter& painter, QTextDocument& document, const QString& foot)
{
    const int pages = document.pageCount();
    for (int page = 0; page < pages; ++page) {
        if (page > 0) {
            writer.newPage();
        }
        painter.save();
        painter.translate(margin, margin - page * textHeight);
        QAbstractTextDocumentLayout::PaintContext context;
        context.clip = QRectF(0, page * textHeight, width, textHeight);
        context.palette.setColor(QPalette::Text, ink);
        painter.setClipRect(context.clip);
        document.documentLayout()->draw(&painter, context);
        painter.restore();
        painter.setFont(typeOf(faint, false, 0.85).font());
        painter.setPen(faint);
        const QRectF line(margin, pageHeight - margin - footHeight, width, footHeight);
        painter.drawText(line, Qt::AlignLeft | Qt::AlignBottom, foot);
        painter.drawText(line, Qt::AlignRight | Qt::AlignBottom, QStringLiteral("%1 / %2").arg(page + 1).arg(pages));
    }
}

} // namespace

void writeHandout(const Experiment& experiment, const ReferenceRun& run, const QString& file)
{
    PictureObject pictures;
    QTextDocument document;
    document.setDefaultFont(typeOf(ink).font());
    document.setDocumentMargin(0);
    document.documentLayout()->registerHandler(pictureObject, &pictures);
    document.setPageSize(QSizeF(width, textHeight));
    fill(document, experiment, run);
    const QString foot
        = tr(QT_TRANSLATE_NOOP("Handout", "Seed %1 on %2. Made with Mantissa.")).arg(run.seed).arg(words(run.device));
    writeFile(file, [&](QIODevice& device) {
        QPdfWriter writer(&device);
        writer.setResolution(pixelsPerInch);
        writer.setPageSize(QPageSize(QPageSize::A4));
        writer.setPageMargins(QMarginsF());
        writer.setTitle(words(experiment.name));
        writer.setCreator(QStringLiteral("Mantissa"));
        QPainter painter(&writer);
        paintPages(writer, painter, document, foot);
        return painter.end();
    });
}

} // namespace mantissa

#include "handout_pdf.moc"
