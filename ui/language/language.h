/// The language of the window. Numbers are written the same way in every one.
#pragma once

#include <QByteArray>
#include <QList>
#include <QObject>
#include <QString>

#include <functional>
#include <optional>

namespace mantissa {

enum class Language { System, English, Chinese };

/// "system", "en", "zh_CN": for the settings file and the command line.
QString languageCode(Language language);
std::optional<Language> languageFromCode(const QString& code);
/// Its own name, as its speakers write it; empty for System.
QString languageName(Language language);

/// To be called before the first window is made: only texts that are handed out later can be turned to another
/// language.
void installLanguage(Language language);
/// Turns every open window to the language.
void changeLanguage(Language language);
Language chosenLanguage();
bool isChinese(); ///< what is shown now, the system's choice included

/// Runs `refresh` after every change, for as long as the owner lives: for texts that are put together from several.
void whenLanguageChanges(const QObject* owner, std::function<void()> refresh);

/// "Save as" of "Save &as" and of "Save as(&A)", as languages without letters on the keys write it.
QString withoutAccessKey(QString text);

/// The widget's items stay as they are: names of lanes and of settings.
void keepWords(QObject* widget);
bool keepsWords(const QObject* widget);

/// A text in the present language; see Translator::translated.
QString inPresentLanguage(const QString& text, const QList<QByteArray>& contexts = {});

} // namespace mantissa
