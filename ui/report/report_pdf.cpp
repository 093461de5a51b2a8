#include "ui/report/report_pdf.h"

#include "engine/core/phrase.h"
#include "engine/protocol/protocol_report.h"
#include "ui/plots/curve_export.h"

#include <QAbstractTextDocumentLayout>
#include <QPageSize>
#include <QPainter>
#include <QPdfWriter>
#include <QSvgRenderer>
#include <QTextDocument>

#include <array>
#include <memory>

namespace mantissa {

namespace {

constexpr int pixelsPerInch = 96;
constexpr double pageWidth = 210 / 25.4 * pixelsPerInch;
constexpr double pageHeight = 297 / 25.4 * pixelsPerInch;
constexpr double margin = 11 / 25.4 * pixelsPerInch;
constexpr double width = pageWidth - 2 * margin;

QString escaped(const std::string& text)
{
    return QString::fromStdString(text).toHtmlEscaped();
}

QString heading(const std::string& text)
{
    return QStringLiteral("<p><b>%1</b></p>").arg(escaped(text));
}

QString signOf(CheckLevel level)
{
    constexpr std::array signs {u'\u2713', u'\u2013', u'\u25B2', u'\u2716'};
    return QString(QChar(signs.at(static_cast<std::size_t>(level))));
}

QString headHtml(const ProtocolWords& words)
{
    QString out
        = QStringLiteral("<p style=\"font-size: x-large\"><b>%1</b></p>"
                         "<table width=\"100%\" cellpadding=\"5\" bgcolor=\"#f0f0f0\"><tr><td><b>%2.</b> %3</td>"
                         "</tr></table><table width=\"100%\" cellspacing=\"0\" cellpadding=\"1\">")
              .arg(escaped(words.title), escaped(words.verdict), escaped(words.summary));
    for (std::size_t i = 0; i < words.settings.size(); i += 2) {
        out += QStringLiteral("<tr>");
        for (std::size_t j = i; j < std::min(i + 2, words.settings.size()); ++j) {
            out += QStringLiteral("<td width=\"10%\"><font color=\"#5a5a5a\">%1</font></td><td width=\"40%\" "
                                  "style=\"padding-right: 8px\">%2</td>")
                       .arg(escaped(words.settings[j].first), escaped(words.settings[j].second));
        }
        out += QStringLiteral("</tr>");
    }
    return out + QStringLiteral("</table>");
}

QString checksHtml(const ProtocolResult& result)
{
    QString out = heading(phrase("Questions and answers"))
        + QStringLiteral("<table width=\"100%\" cellspacing=\"0\" cellpadding=\"1\">");
    for (const ProtocolCheck& check : result.checks) {
        out += QStringLiteral("<tr><td width=\"10%\"><b>%1 %2</b></td><td width=\"25%\">%3</td><td>%4</td></tr>")
                   .arg(signOf(check.level), QString::fromStdString(wordOf(check.level)), escaped(check.question),
                       escaped(check.answer));
    }
    return out + QStringLiteral("</table>");
}

QString numbersHtml(const ProtocolWords& words)
{
    QString out = heading(phrase("Numbers"))
        + QStringLiteral("<table width=\"100%\" cellspacing=\"0\" cellpadding=\"1\">"
                         "<tr><td></td><td align=\"right\"><b>FP32</b></td><td align=\"right\"><b>AMP</b></td>"
                         "<td align=\"right\"><b>%1</b></td></tr>")
              .arg(escaped(phrase("AMP to FP32")));
    for (const ProtocolWords::Number& number : words.numbers) {
        out += QStringLiteral("<tr><td>%1</td><td align=\"right\">%2</td><td align=\"right\">%3</td>"
                              "<td align=\"right\">%4</td></tr>")
                   .arg(escaped(number.name).replace(QStringLiteral("  "), QStringLiteral("&nbsp;&nbsp;")),
                       escaped(number.fp32), escaped(number.amp), escaped(number.change));
    }
    return out + QStringLiteral("</table>");
}

QString findingsHtml(const ProtocolResult& result, const ProtocolWords& words)
{
    QString out = heading(phrase("Findings"));
    for (const ProtocolFinding& found : result.findings) {
        out += QStringLiteral("<p><b>%1</b> <font color=\"#5a5a5a\">(%2: %3)</font><br>%4</p>")
                   .arg(escaped(found.finding.title), escaped(found.finding.rule),
                       escaped(findingPlace(found, static_cast<int>(result.runs.amp.size()))),
                       escaped(found.finding.advice));
    }
    if (result.findings.empty()) {
        out += QStringLiteral("<p>%1</p>").arg(escaped(phrase("None: the diagnosis has nothing to say about either.")));
    }
    return out + heading(phrase("Method"))
        + QStringLiteral("<p><font color=\"#5a5a5a\">%1<br>%2</font></p>")
              .arg(escaped(words.method), escaped(phrase("Made with Mantissa.")));
}

std::unique_ptr<QTextDocument> document(const QString& html, double textWidth, int pixelSize)
{
    auto text = std::make_unique<QTextDocument>();
    QFont font(QStringLiteral("sans-serif"));
    font.setStyleHint(QFont::SansSerif);
    font.setPixelSize(pixelSize);
    text->setDefaultFont(font);
    text->setDocumentMargin(0);
    text->setDefaultStyleSheet(QStringLiteral("p { margin: 3px 0 2px 0; }"));
    text->setHtml(html);
    text->setTextWidth(textWidth);
    return text;
}

/// All texts of the page, at one size of type.
struct Texts
{
    std::unique_ptr<QTextDocument> head;
    std::unique_ptr<QTextDocument> checks;
    std::unique_ptr<QTextDocument> numbers;
    std::unique_ptr<QTextDocument> findings;

    [[nodiscard]] double height() const
    {
        return head->size().height() + checks->size().height()
            + std::max(numbers->size().height(), findings->size().height());
    }
};

constexpr double numbersShare = 0.56;
constexpr double findingsShare = 0.41;

Texts textsOf(const ProtocolResult& result, int pixelSize)
{
    const ProtocolWords words = protocolWords(result);
    return {document(headHtml(words), width, pixelSize), document(checksHtml(result), width, pixelSize),
        document(numbersHtml(words), width * numbersShare, pixelSize),
        document(findingsHtml(result, words), width * findingsShare, pixelSize)};
}

/// Returns the height.
double drawPicture(QPainter& painter, const ProtocolPicture& picture, double x, double y, double scale)
{
    QSvgRenderer renderer(QByteArray::fromStdString(picture.svg));
    renderer.render(&painter, QRectF(x, y, picture.width * scale, picture.height * scale));
    return picture.height * scale;
}

void drawText(QPainter& painter, QTextDocument& text, double x, double y)
{
    painter.save();
    painter.translate(x, y);
    // On paper the window's colours do not count.
    QAbstractTextDocumentLayout::PaintContext context;
    context.palette.setColor(QPalette::Text, QColor(0x1c, 0x1c, 0x1c));
    text.documentLayout()->draw(&painter, context);
    painter.restore();
}

void paintReport(QPainter& painter, const ProtocolResult& result)
{
    const ProtocolPictures pictures = protocolPictures(result);
    const double scale = width / pictures.loss.width;
    const double plots = (pictures.loss.height + pictures.scale.height) * scale;
    constexpr double gap = 6;
    constexpr int largest = 11;
    constexpr int smallest = 6;
    int pixelSize = largest;
    Texts texts = textsOf(result, pixelSize);
    while (texts.height() + plots + 3 * gap > pageHeight - 2 * margin && pixelSize > smallest) {
        texts = textsOf(result, --pixelSize);
    }
    double y = margin;
    drawText(painter, *texts.head, margin, y);
    y += texts.head->size().height() + gap;
    y += drawPicture(painter, pictures.loss, margin, y, scale);
    drawPicture(painter, pictures.gradNorm, margin, y, scale);
    y += drawPicture(painter, pictures.scale, margin + width - pictures.scale.width * scale, y, scale) + gap;
    drawText(painter, *texts.checks, margin, y);
    y += texts.checks->size().height() + gap;
    drawText(painter, *texts.numbers, margin, y);
    drawText(painter, *texts.findings, margin + width * (1 - findingsShare), y);
}

} // namespace

void writeReportPdf(const ProtocolResult& result, const QString& file)
{
    writeFile(file, [&](QIODevice& device) {
        QPdfWriter writer(&device);
        writer.setResolution(pixelsPerInch);
        writer.setPageSize(QPageSize(QPageSize::A4));
        writer.setPageMargins(QMarginsF());
        writer.setTitle(QString::fromStdString(protocolWords(result).title));
        writer.setCreator(QStringLiteral("Mantissa"));
        QPainter painter(&writer);
        paintReport(painter, result);
        return painter.end();
    });
}

} // namespace mantissa
