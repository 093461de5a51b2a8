/// Qt's translator with a memory: it knows again every text that it has handed out, so that a window can be turned to
/// another language without a line of code for each of its texts.
#pragma once

#include "ui/language/text_pattern.h"

#include <QHash>
#include <QList>
#include <QMutex>
#include <QTranslator>

#include <deque>
#include <vector>

namespace mantissa {

class Translator : public QTranslator
{
    Q_OBJECT
public:
    explicit Translator(QObject* parent = nullptr);

    /// English is what the sources say; the other language is that of resources/translations.
    void setEnglish(bool isEnglish);

    [[nodiscard]] bool isEnglish() const { return m_isEnglish; }

    /// Called for every tr(), from any thread.
    [[nodiscard]] QString translate(
        const char* context, const char* source, const char* comment = nullptr, int count = -1) const override;

    /// A text of the engine, which has no classes of Qt's to be found under. English if it is not translated.
    [[nodiscard]] QString translatedPhrase(const char* text) const;
    /// Makes translated() know a text that is only ever met made up.
    void know(const char* phrase) const;

    [[nodiscard]] bool isEmpty() const override { return false; }

    /// A text that is shown, in the present language, whichever it was made in: also one whose places were filled, and
    /// lines that were put together. `contexts`: where it is shown, the nearest first; they decide between texts that
    /// are the same in one language only. A text that was not handed out stays as it is.
    [[nodiscard]] QString translated(const QString& text, const QList<QByteArray>& contexts) const;

signals:
    void languageChanged(); ///< and the texts that widgets hold are in it

private:
    struct Entry
    {
        QByteArray context;
        QString english;
        QString other; ///< empty: not translated
        TextPattern englishPattern;
        TextPattern otherPattern;
    };

    const Entry* entryOf(const char* context, const char* source, const char* comment) const;
    [[nodiscard]] const QString& present(const Entry& entry) const;
    [[nodiscard]] bool isKnown(const QString& text, int depth) const;
    [[nodiscard]] const Entry* bestPattern(const QString& text, const QList<QByteArray>& contexts, int depth) const;
    [[nodiscard]] QString translatedLine(const QString& text, const QList<QByteArray>& contexts, int depth) const;
    /// The nearest to `contexts` of those that say something in the present language.
    [[nodiscard]] static const Entry* nearest(const QList<const Entry*>& entries, const QList<QByteArray>& contexts);

    QTranslator m_other;
    QTranslator m_qt; ///< Qt's own texts in the other language, where Qt's translations are installed
    bool m_isEnglish = true;
    mutable QMutex m_mutex;
    mutable QHash<QByteArray, const Entry*> m_byKey;
    mutable QMultiHash<QString, const Entry*> m_byText;
    mutable QMultiHash<QString, const Entry*> m_byPlainText; ///< without access keys, where there are any
    mutable std::deque<Entry> m_entries;
    mutable std::vector<const Entry*> m_patterns; ///< entries with places
};

} // namespace mantissa
