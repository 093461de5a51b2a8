#include "ui/views/watch_field.h"

#include "engine/core/phrase.h"
#include "engine/train/watch_expression.h"

#include <QAbstractItemView>
#include <QCompleter>

#include <algorithm>
#include <string_view>

namespace mantissa {

namespace {

QString textOf(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QStringList names()
{
    QStringList list;
    for (const WatchMetric& metric : watchMetrics()) {
        list << textOf(metric.name);
    }
    for (const std::string_view function : watchFunctions()) {
        list << textOf(function) + QLatin1Char('(');
    }
    for (const char* ofLayer : {"flushed(\"", "subnormal(\"", "overflowed(\""}) {
        list << QLatin1String(ofLayer);
    }
    list << QStringLiteral("and") << QStringLiteral("or");
    list.sort();
    return list;
}

} // namespace

QString conditionHelp()
{
    QString rows;
    for (const WatchMetric& metric : watchMetrics()) {
        rows += QStringLiteral("<tr><td><b>%1</b>&nbsp;</td><td>%2</td></tr>")
                    .arg(textOf(metric.name),
                        QString::fromStdString(translatedPhrase(metric.help.data())).toHtmlEscaped());
    }
    return QStringLiteral("<p>%1</p><table>%2</table>")
        .arg(WatchField::tr("Numbers compared with &lt; &lt;= &gt; &gt;= == !=, joined by <b>and</b> and <b>or</b>: "
                            "skips(N) counts skipped steps among the last N; mean, max and min(metric, N) look back N "
                            "steps; flushed(\"fc1\") is a layer's share."),
            rows);
}

WatchField::WatchField(QWidget* parent)
    : QLineEdit(parent)
    , m_completer(new QCompleter(names(), this))
{
    m_completer->setWidget(this);
    m_completer->setCompletionMode(QCompleter::PopupCompletion);
    connect(m_completer, qOverload<const QString&>(&QCompleter::activated), this, &WatchField::insertName);
    connect(this, &QLineEdit::textEdited, this, &WatchField::complete);
}

QString WatchField::wordBeforeCursor() const
{
    const QString before = text().left(cursorPosition());
    qsizetype begin = before.size();
    while (begin > 0 && (before[begin - 1].isLetterOrNumber() || before[begin - 1] == QLatin1Char('_'))) {
        --begin;
    }
    return before.mid(begin);
}

QStringList WatchField::completions() const
{
    const QString word = wordBeforeCursor();
    QStringList list;
    for (const QString& name : names()) {
        if (!word.isEmpty() && name.startsWith(word) && name != word) {
            list << name;
        }
    }
    return list;
}

void WatchField::complete()
{
    if (completions().isEmpty()) {
        m_completer->popup()->hide();
        return;
    }
    m_completer->setCompletionPrefix(wordBeforeCursor());
    m_completer->complete();
}

void WatchField::insertName(const QString& name)
{
    const int length = static_cast<int>(wordBeforeCursor().size());
    setSelection(cursorPosition() - length, length);
    insert(name);
}

} // namespace mantissa
