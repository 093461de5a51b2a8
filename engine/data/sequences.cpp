// Sequence tasks that are computed: a model that reads tokens one after another is asked for what follows.
#include "engine/core/hash.h"
#include "engine/core/philox.h"
#include "engine/data/sources.h"

#include <algorithm>
#include <limits>
#include <unordered_set>

namespace mantissa {

namespace {

using Word = std::vector<std::int32_t>;

/// Whole numbers from a stream, one after another.
class Draws
{
public:
    Draws(std::uint64_t seed, std::string_view stream)
        : m_random(seed, randomStream(RandomPurpose::Data, stream))
    {
    }

    /// From 0 to below n.
    std::uint32_t below(std::uint32_t n)
    {
        // Multiply-shift: the bias is below n / 2^32.
        return static_cast<std::uint32_t>(std::uint64_t {bits()} * n >> 32U);
    }

    /// True with the probability numerator / denominator, both below 2^32.
    bool happens(std::uint64_t numerator, std::uint64_t denominator)
    {
        return std::uint64_t {bits()} * denominator < numerator << 32U;
    }

private:
    std::uint32_t bits()
    {
        if (m_used == m_block.size()) {
            m_block = m_random(m_counter++);
            m_used = 0;
        }
        return m_block[m_used++];
    }

    Philox m_random;
    std::uint64_t m_counter = 0;
    std::array<std::uint32_t, 4> m_block {};
    std::size_t m_used = 4;
};

/// a b, or the largest number if that is less.
std::uint64_t cappedProduct(std::uint64_t a, std::uint64_t b)
{
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    return b != 0 && a > most / b ? most : a * b;
}

/// Tells words that came before from new ones, where there are enough that none needs to come twice.
class Novelty
{
public:
    Novelty(std::uint64_t possible, std::int64_t wanted)
        : m_isWanted(possible / 2 >= static_cast<std::uint64_t>(wanted))
    {
    }

    /// By a hash: two words that share one cost a draw, no more.
    bool accepts(const Word& word)
    {
        return !m_isWanted || m_seen.insert(fnv1a(std::as_bytes(std::span(word)))).second;
    }

private:
    bool m_isWanted;
    std::unordered_set<std::uint64_t> m_seen;
};

Dataset tokenDataset(std::int64_t samples, std::int64_t tokensPerSample, std::vector<std::string> names)
{
    Dataset dataset;
    dataset.sampleShape = {tokensPerSample};
    dataset.samples = samples;
    dataset.features = tokensPerSample;
    dataset.tokenStride = tokensPerSample;
    dataset.vocabulary = static_cast<std::int64_t>(names.size());
    dataset.classes = dataset.vocabulary;
    dataset.classNames = std::move(names);
    dataset.labelsTokens = true;
    const auto all = static_cast<std::size_t>(samples * tokensPerSample);
    dataset.tokens.reserve(all);
    dataset.labels.reserve(all);
    return dataset;
}

/// Adds a token, and what is asked after it.
void append(Dataset& dataset, std::int32_t token, std::int32_t label = ignoredLabel)
{
    dataset.tokens.push_back(token);
    dataset.labels.push_back(label);
}

std::vector<std::string> numberNames(std::int64_t n)
{
    std::vector<std::string> names;
    for (std::int64_t i = 0; i < n; ++i) {
        names.push_back(std::to_string(i));
    }
    return names;
}

/// Words, a separator, and what answer(word) makes of each.
template <typename Answer> Dataset wordsAndAnswers(const DataRequest& request, std::string_view stream, Answer answer)
{
    const auto length = static_cast<std::size_t>(request.config.length);
    const auto symbols = static_cast<std::uint32_t>(request.config.symbols);
    const auto separator = static_cast<std::int32_t>(symbols);
    std::vector<std::string> names = numberNames(symbols);
    names.emplace_back("|");
    Dataset dataset = tokenDataset(request.config.samples, 2 * request.config.length, std::move(names));

    std::uint64_t possible = 1;
    for (std::size_t i = 0; i < length; ++i) {
        possible = cappedProduct(possible, symbols);
    }
    Draws draws(request.seed, stream);
    Novelty novelty(possible, dataset.samples);
    Word word(length);
    for (std::int64_t sample = 0; sample < dataset.samples; ++sample) {
        do {
            std::ranges::generate(word, [&] { return static_cast<std::int32_t>(draws.below(symbols)); });
        } while (!novelty.accepts(word));
        for (const std::int32_t symbol : word) {
            append(dataset, symbol);
        }
        const Word asked = answer(word);
        for (std::size_t i = 0; i < length; ++i) {
            append(dataset, i == 0 ? separator : asked[i - 1], asked[i]);
        }
    }
    return dataset;
}

// Bracket 2 k opens and 2 k + 1 closes kind k.
constexpr std::uint32_t bracketKinds = 3;
constexpr std::uint32_t brackets = 2 * bracketKinds;

/// A balanced word, each as likely as any other: with r brackets to come and h open, the share (h + 2) (r - h) of
/// 2 (h + 1) r of all ways to go on begins with one that opens.
void drawBalanced(Word& word, Draws& draws)
{
    std::vector<std::int32_t> open;
    for (std::size_t i = 0; i < word.size(); ++i) {
        const std::uint64_t rest = word.size() - i;
        const std::uint64_t height = open.size();
        if (draws.happens((height + 2) * (rest - height), 2 * (height + 1) * rest)) {
            open.push_back(static_cast<std::int32_t>(2 * draws.below(bracketKinds)));
            word[i] = open.back();
        } else {
            word[i] = open.back() + 1;
            open.pop_back();
        }
    }
}

/// No longer balanced: a direction no longer has its counterpart, or a pair is of two kinds.
void breakOne(Word& word, Draws& draws)
{
    std::int32_t& bracket = word[draws.below(static_cast<std::uint32_t>(word.size()))];
    bracket
        = (bracket + 1 + static_cast<std::int32_t>(draws.below(brackets - 1))) % static_cast<std::int32_t>(brackets);
}

std::uint64_t balancedWords(std::int64_t length)
{
    // Catalan's number C(n + 1) = C(n) (4 n + 2) / (n + 2), times the kinds. From n = 19 on beyond what is asked for.
    const auto pairs = static_cast<std::uint64_t>(std::min<std::int64_t>(length / 2, 19));
    std::uint64_t count = 1;
    std::uint64_t kinds = 1;
    for (std::uint64_t n = 0; n < pairs; ++n) {
        count = count * (4 * n + 2) / (n + 2);
        kinds *= bracketKinds;
    }
    return cappedProduct(count, kinds);
}

} // namespace

Dataset makeModularAddition(const DataRequest& request)
{
    const auto p = static_cast<std::int32_t>(request.config.modulus);
    std::vector<std::string> names = numberNames(p);
    names.insert(names.end(), {"+", "="});
    Dataset dataset = tokenDataset(std::int64_t {p} * p, 4, std::move(names));
    for (std::int32_t a = 0; a < p; ++a) {
        for (std::int32_t b = 0; b < p; ++b) {
            append(dataset, a);
            append(dataset, p);
            append(dataset, b);
            append(dataset, p + 1, (a + b) % p);
        }
    }
    return dataset;
}

Dataset makeCopy(const DataRequest& request)
{
    return wordsAndAnswers(request, "copy", [](const Word& word) { return word; });
}

Dataset makeSort(const DataRequest& request)
{
    return wordsAndAnswers(request, "sort", [](Word word) {
        std::ranges::sort(word);
        return word;
    });
}

Dataset makeBrackets(const DataRequest& request)
{
    constexpr std::int32_t end = brackets;
    constexpr std::int32_t no = end + 1;
    constexpr std::int32_t yes = end + 2;
    Dataset dataset = tokenDataset(
        request.config.samples, request.config.length + 1, {"(", ")", "[", "]", "{", "}", "end", "no", "yes"});
    Draws draws(request.seed, "brackets");
    Novelty novelty(balancedWords(request.config.length), dataset.samples);
    Word word(static_cast<std::size_t>(request.config.length));
    for (std::int64_t sample = 0; sample < dataset.samples; ++sample) {
        const bool isBalanced = sample % 2 == 0;
        do {
            drawBalanced(word, draws);
            if (!isBalanced) {
                breakOne(word, draws);
            }
        } while (!novelty.accepts(word));
        for (const std::int32_t bracket : word) {
            append(dataset, bracket);
        }
        append(dataset, end, isBalanced ? yes : no);
    }
    return dataset;
}

} // namespace mantissa
