#include "engine/core/phrase.h"

#include <atomic>

namespace mantissa {

namespace {

std::atomic<PhraseTranslator> theTranslator = nullptr;

} // namespace

PhraseTranslator setPhraseTranslator(PhraseTranslator translator)
{
    return theTranslator.exchange(translator);
}

std::string translatedPhrase(const char* text)
{
    const PhraseTranslator translator = theTranslator;
    return translator == nullptr ? text : translator(text);
}

} // namespace mantissa
