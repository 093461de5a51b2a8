#include "ui/language/text_pattern.h"

#include <QRegularExpression>

namespace mantissa {

namespace {

constexpr int countPlace = 0; // of %n

} // namespace

TextPattern::TextPattern(const QString& text, Places places)
{
    static const QRegularExpression percent(QStringLiteral("%(\\d{1,2}|n)"));
    static const QRegularExpression braces(QStringLiteral("\\{(\\d*)(?::[^}]*)?\\}"));
    const bool usesPercent = places == Places::Percent;
    qsizetype at = 0;
    int next = 0;
    auto found = (usesPercent ? percent : braces).globalMatch(text);
    while (found.hasNext()) {
        const QRegularExpressionMatch match = found.next();
        m_literals.append(text.mid(at, match.capturedStart() - at));
        at = match.capturedEnd();
        const QString number = match.captured(1);
        m_places.push_back(number.isEmpty() ? next++ : number == QLatin1String("n") ? countPlace : number.toInt());
    }
    m_literals.append(text.mid(at));
    for (const QString& literal : m_literals) {
        m_weight += literal.size();
        for (const QChar letter : literal) {
            m_letters += letter.script() == QChar::Script_Han ? 2 : letter.isLetter() ? 1 : 0;
        }
    }
}

std::optional<std::map<int, QString>> TextPattern::match(const QString& text) const
{
    if (text.size() < m_weight || !text.startsWith(m_literals.first())) {
        return std::nullopt;
    }
    std::map<int, QString> contents;
    if (!matchFrom(text, m_literals.first().size(), 0, contents)) {
        return std::nullopt;
    }
    return contents;
}

bool TextPattern::matchFrom(
    const QString& text, qsizetype at, std::size_t place, std::map<int, QString>& contents) const
{
    if (place == m_places.size()) {
        return at == text.size();
    }
    const QString& behind = m_literals[static_cast<qsizetype>(place) + 1];
    const bool isLast = place + 1 == m_places.size();
    const int number = m_places[place];
    const auto known = contents.find(number);
    const bool isKnown = known != contents.end();
    if (isLast) {
        // Nothing follows: the place holds all up to the last literal.
        const qsizetype end = text.size() - behind.size();
        if (end < at || !text.endsWith(behind)) {
            return false;
        }
        const QString content = text.mid(at, end - at);
        if (isKnown) {
            return known->second == content;
        }
        contents[number] = content;
        return true;
    }
    for (qsizetype end = behind.isEmpty() ? at : text.indexOf(behind, at); end >= 0 && end <= text.size();
         end = behind.isEmpty() ? end + 1 : text.indexOf(behind, end + 1)) {
        const QString content = text.mid(at, end - at);
        if (isKnown && known->second != content) {
            continue;
        }
        contents[number] = content;
        if (matchFrom(text, end + behind.size(), place + 1, contents)) {
            return true;
        }
        if (!isKnown) {
            contents.erase(number);
        }
    }
    return false;
}

QString TextPattern::filled(const std::map<int, QString>& contents) const
{
    QString text = m_literals.first();
    for (std::size_t place = 0; place < m_places.size(); ++place) {
        const auto content = contents.find(m_places[place]);
        text += content != contents.end() ? content->second : QString();
        text += m_literals[static_cast<qsizetype>(place) + 1];
    }
    return text;
}

} // namespace mantissa
