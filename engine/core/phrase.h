/// Texts of the engine that a window shows in its user's language. The engine itself speaks English; a program that
/// sets a translator hears the rest.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

/// Marks a text for translation where it stands in a table; translatedPhrase() gives it in the window's language.
#define MANTISSA_PHRASE(text) text

namespace mantissa {

/// Gives the text, its places in braces as they are, in another language; or the text itself.
using PhraseTranslator = std::string (*)(const char* text);

/// For the whole process. Null: English. Returns the one before.
PhraseTranslator setPhraseTranslator(PhraseTranslator translator);
std::string translatedPhrase(const char* text);

/// fmt::format in the language of the window. Translations may move the places: "{1} of {0}". lupdate reads these texts
/// as it reads tr().
template <typename... Values> std::string phrase(fmt::format_string<Values...> text, Values&&... values)
{
    const fmt::string_view english = text;
    try {
        // A literal, and as such followed by a zero.
        return fmt::format(fmt::runtime(translatedPhrase(english.data())), values...);
    } catch (const fmt::format_error&) { // of a translation whose places are wrong
        return fmt::format(text, std::forward<Values>(values)...);
    }
}

} // namespace mantissa
