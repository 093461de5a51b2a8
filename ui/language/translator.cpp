#include "ui/language/translator.h"

#include "ui/language/language.h"

#include <QLibraryInfo>
#include <QMutexLocker>
#include <QRegularExpression>

#include <algorithm>
#include <array>
#include <utility>

namespace mantissa {

namespace {

/// A text in a place of a text in a place ...: more is not made anywhere.
constexpr int deepest = 4;
/// What lupdate takes the engine's functions for the members of: their namespace, or that of the type they return.
constexpr std::array<const char*, 2> phraseContexts {"mantissa", "std"};

} // namespace

Translator::Translator(QObject* parent)
    : QTranslator(parent)
{
    const bool isThere = m_other.load(QStringLiteral(":/i18n/mantissa_zh_CN.qm"));
    Q_ASSERT(isThere);
    Q_UNUSED(isThere)
    // Absent where Qt's translations are not installed: its few texts, in file dialogs mostly, then stay English.
    static_cast<void>(m_qt.load(QStringLiteral("qtbase_zh_CN"), QLibraryInfo::path(QLibraryInfo::TranslationsPath)));
}

void Translator::setEnglish(bool isEnglish)
{
    const QMutexLocker lock(&m_mutex);
    m_isEnglish = isEnglish;
}

const QString& Translator::present(const Entry& entry) const
{
    return m_isEnglish || entry.other.isEmpty() ? entry.english : entry.other;
}

const Translator::Entry* Translator::entryOf(const char* context, const char* source, const char* comment) const
{
    const QByteArray key = QByteArray(context) + '\0' + source + '\0' + comment;
    if (const Entry* known = m_byKey.value(key)) {
        return known;
    }
    // A language without plurals: one form serves every count.
    QString other = m_other.translate(context, source, comment, 1);
    if (other.isEmpty()) {
        other = m_qt.translate(context, source, comment, 1);
    }
    const QString english = QString::fromUtf8(source);
    const auto places = english.contains(QLatin1Char('%')) && !english.contains(QLatin1Char('{'))
        ? TextPattern::Places::Percent
        : TextPattern::Places::Braces;
    const Entry& entry = m_entries.emplace_back(Entry {
        context, english, other, TextPattern(english, places), TextPattern(other.isEmpty() ? english : other, places)});
    if (entry.englishPattern.hasPlaces()) {
        m_patterns.push_back(&entry);
    }
    m_byKey.insert(key, &entry);
    m_byText.insert(english, &entry);
    if (!other.isEmpty() && other != english) {
        m_byText.insert(other, &entry);
    }
    for (const QString& text : {english, other}) {
        if (const QString plain = withoutAccessKey(text); plain != text) {
            m_byPlainText.insert(plain, &entry);
        }
    }
    return &entry;
}

QString Translator::translate(const char* context, const char* source, const char* comment, int count) const
{
    Q_UNUSED(count) // Qt itself puts it in the place of %n
    if (source == nullptr || *source == '\0') {
        return {};
    }
    const QMutexLocker lock(&m_mutex);
    const Entry* entry = entryOf(context == nullptr ? "" : context, source, comment);
    // Nothing: Qt takes the source text.
    return m_isEnglish ? QString() : entry->other;
}

QString Translator::translatedPhrase(const char* text) const
{
    const QMutexLocker lock(&m_mutex);
    const auto* context = std::find_if(phraseContexts.begin(), phraseContexts.end(),
        [&](const char* each) { return !m_other.translate(each, text, nullptr, 1).isEmpty(); });
    return present(*entryOf(context == phraseContexts.end() ? phraseContexts.front() : *context, text, nullptr));
}

void Translator::know(const char* phrase) const
{
    static_cast<void>(translatedPhrase(phrase));
}

const Translator::Entry* Translator::nearest(const QList<const Entry*>& entries, const QList<QByteArray>& contexts)
{
    const auto distance = [&contexts](const Entry* entry) {
        const qsizetype at = contexts.indexOf(entry->context);
        return std::pair(entry->other.isEmpty(), at < 0 ? contexts.size() : at);
    };
    return *std::min_element(
        entries.begin(), entries.end(), [&](const Entry* a, const Entry* b) { return distance(a) < distance(b); });
}

bool Translator::isKnown(const QString& text, int depth) const
{
    static const QRegularExpression letters(QStringLiteral("\\p{L}{2}"));
    return m_byText.contains(text) || !letters.match(text).hasMatch() || bestPattern(text, {}, depth) != nullptr;
}

const Translator::Entry* Translator::bestPattern(
    const QString& text, const QList<QByteArray>& contexts, int depth) const
{
    if (depth >= deepest) {
        return nullptr;
    }
    // "%1 in %2" fits much that is not made of it: something in its places has to be known, too.
    const auto isSure = [&](const TextPattern& pattern) {
        if (pattern.isTelling()) {
            return true;
        }
        const auto contents = pattern.match(text);
        return std::ranges::any_of(*contents, [&](const auto& each) { return isKnown(each.second, depth + 1); });
    };
    // Lines are translated one by one, unless they are one text.
    const bool hasLines = text.contains(QLatin1Char('\n'));
    const auto weigh = [&](const TextPattern& pattern) {
        return pattern.weight() > 0 && (!hasLines || pattern.hasLines()) && pattern.match(text) && isSure(pattern)
            ? pattern.weight()
            : 0;
    };
    QList<const Entry*> best;
    qsizetype most = 0;
    for (const Entry* entry : m_patterns) {
        const qsizetype weight = std::max(weigh(entry->englishPattern), weigh(entry->otherPattern));
        if (weight > most) {
            best.clear();
            most = weight;
        }
        if (weight > 0 && weight == most) {
            best.append(entry);
        }
    }
    return best.isEmpty() ? nullptr : nearest(best, contexts);
}

QString Translator::translatedLine(const QString& text, const QList<QByteArray>& contexts, int depth) const
{
    if (text.isEmpty()) {
        return text;
    }
    if (const QList<const Entry*> same = m_byText.values(text); !same.isEmpty()) {
        return present(*nearest(same, contexts));
    }
    if (const QList<const Entry*> same = m_byPlainText.values(text); !same.isEmpty()) {
        return withoutAccessKey(present(*nearest(same, contexts)));
    }
    const Entry* entry = bestPattern(text, contexts, depth);
    if (entry == nullptr) {
        return text;
    }
    const bool isEnglishText = entry->englishPattern.match(text).has_value();
    auto contents = *(isEnglishText ? entry->englishPattern : entry->otherPattern).match(text);
    for (auto& [place, content] : contents) {
        content = translatedLine(content, contexts, depth + 1);
    }
    const bool wantsEnglish = m_isEnglish || entry->other.isEmpty();
    return (wantsEnglish ? entry->englishPattern : entry->otherPattern).filled(contents);
}

QString Translator::translated(const QString& text, const QList<QByteArray>& contexts) const
{
    const QMutexLocker lock(&m_mutex);
    const QString whole = translatedLine(text, contexts, 0);
    if (whole != text || !text.contains(QLatin1Char('\n'))) {
        return whole;
    }
    QStringList lines = text.split(QLatin1Char('\n'));
    for (QString& line : lines) {
        line = translatedLine(line, contexts, 0);
    }
    return lines.join(QLatin1Char('\n'));
}

} // namespace mantissa
