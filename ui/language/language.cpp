#include "ui/language/language.h"

#include "engine/core/phrase.h"
#include "ui/language/retranslate.h"
#include "ui/language/translator.h"

#include <QCoreApplication>
#include <QLocale>
#include <QRegularExpression>

#include <array>
#include <utility>

namespace mantissa {

namespace {

struct Known
{
    Language language;
    const char* code;
    const char* name;
};

constexpr std::array<Known, 3> known {{
    {Language::System, "system", ""},
    {Language::English, "en", "English"},
    {Language::Chinese, "zh_CN", "\u7B80\u4F53\u4E2D\u6587"},
}};

constexpr const char* keptWords = "keepsWords";

Language theChosen = Language::System;
Translator* theTranslator = nullptr; ///< lives as long as the application

bool speaksChinese(Language language)
{
    if (language != Language::System) {
        return language == Language::Chinese;
    }
    // Of several languages the first one counts that there is.
    for (const QString& name : QLocale::system().uiLanguages()) {
        const QLocale locale(name);
        if (locale.language() == QLocale::Chinese && locale.script() == QLocale::SimplifiedHanScript) {
            return true;
        }
        if (locale.language() == QLocale::English) {
            return false;
        }
    }
    return false;
}

/// What the engine keeps in English: events, which are stored, and devices. Translated where it is shown.
constexpr std::array keptPhrases {
    MANTISSA_PHRASE("{}; first in {}."),
    MANTISSA_PHRASE("{}, but not by a rounding to 16 bits."),
    MANTISSA_PHRASE("{}; where is not known, as roundings are not counted."),
    MANTISSA_PHRASE("The whole gradient is zero"),
    MANTISSA_PHRASE("A gradient is not finite"),
    MANTISSA_PHRASE("The loss is not finite"),
    MANTISSA_PHRASE("The weights are not finite any more since step {}."),
    MANTISSA_PHRASE("The watchpoint \"{}\" paused training behind step {} of {}: {}."),
    MANTISSA_PHRASE("All lanes have ended; reset to train again."),
    MANTISSA_PHRASE("There is no lane {}; it may have been removed."),
    MANTISSA_PHRASE("There is a lane named \"{}\" already; give the new one another name."),
    MANTISSA_PHRASE("The checkpoint could not be written: {}"),
    MANTISSA_PHRASE(
        "DeepSpeed's scaler ends the training: an overflow at its minimum scale of {}. The gradients overflow "
        "without help from the scale; look for an infinite loss or a learning rate that is too high."),
    MANTISSA_PHRASE(
        "fairseq's scaler ends the training: the scale would fall to its minimum of {}. The loss is probably "
        "exploding; lower the learning rate, clip the gradients or raise the batch size."),
    MANTISSA_PHRASE("Native BF16 takes subnormal numbers (below 1.2e-38) as zero in matrix products and convolutions, "
                    "inputs and sums."),
    MANTISSA_PHRASE("This build has no CUDA plug-in."),
    MANTISSA_PHRASE("Every result is computed in double precision and rounded once; slow, made for checking."),
};

std::string phraseOfEngine(const char* text)
{
    return theTranslator == nullptr ? text : theTranslator->translatedPhrase(text).toStdString();
}

} // namespace

QString languageCode(Language language)
{
    return QString::fromLatin1(known[static_cast<std::size_t>(language)].code);
}

QString languageName(Language language)
{
    return QString::fromUtf8(known[static_cast<std::size_t>(language)].name);
}

std::optional<Language> languageFromCode(const QString& code)
{
    for (const Known& one : known) {
        if (code.compare(QLatin1String(one.code), Qt::CaseInsensitive) == 0) {
            return one.language;
        }
    }
    return std::nullopt;
}

void installLanguage(Language language)
{
    theChosen = language;
    if (theTranslator == nullptr) {
        theTranslator = new Translator(QCoreApplication::instance());
        QObject::connect(theTranslator, &QObject::destroyed, [] { theTranslator = nullptr; });
        setPhraseTranslator(phraseOfEngine);
        for (const char* phrase : keptPhrases) {
            theTranslator->know(phrase);
        }
    }
    theTranslator->setEnglish(!speaksChinese(language));
    QCoreApplication::installTranslator(theTranslator);
}

void changeLanguage(Language language)
{
    if (theTranslator == nullptr) {
        installLanguage(language);
        return;
    }
    theChosen = language;
    const bool isEnglish = !speaksChinese(language);
    if (isEnglish != theTranslator->isEnglish()) {
        theTranslator->setEnglish(isEnglish);
        retranslateWindows();
        emit theTranslator->languageChanged();
    }
}

void whenLanguageChanges(const QObject* owner, std::function<void()> refresh)
{
    if (theTranslator != nullptr) {
        QObject::connect(theTranslator, &Translator::languageChanged, owner, std::move(refresh));
    }
}

Language chosenLanguage()
{
    return theChosen;
}

bool isChinese()
{
    return theTranslator != nullptr && !theTranslator->isEnglish();
}

QString withoutAccessKey(QString text)
{
    static const QRegularExpression inBrackets(QStringLiteral("\\(&[A-Za-z0-9]\\)"));
    text.remove(inBrackets);
    // A doubled ampersand stands for itself.
    text.replace(QLatin1String("&&"), QLatin1String("\x01"));
    text.remove(QLatin1Char('&'));
    return text.replace(QLatin1Char('\x01'), QLatin1Char('&'));
}

void keepWords(QObject* widget)
{
    widget->setProperty(keptWords, true);
}

bool keepsWords(const QObject* widget)
{
    return widget->property(keptWords).toBool();
}

QString inPresentLanguage(const QString& text, const QList<QByteArray>& contexts)
{
    return theTranslator == nullptr ? text : theTranslator->translated(text, contexts);
}

} // namespace mantissa
