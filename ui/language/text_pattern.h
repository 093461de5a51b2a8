/// A text with places in it, "step %1 of %2" or "step {} of {}", recognised in a text that was made from it.
#pragma once

#include <QString>
#include <QStringList>

#include <map>
#include <optional>
#include <vector>

namespace mantissa {

class TextPattern
{
public:
    enum class Places {
        Percent, ///< %1 to %99, %n
        Braces ///< {}, {:.3g}, {0}
    };

    explicit TextPattern(const QString& text, Places places = Places::Percent);

    [[nodiscard]] bool hasPlaces() const { return !m_places.empty(); }

    [[nodiscard]] bool hasLines() const { return m_literals.join(QString()).contains(QLatin1Char('\n')); }

    /// Characters outside the places: the more, the better a match.
    [[nodiscard]] qsizetype weight() const { return m_weight; }

    /// Whether what fits was surely made of it: "Value in %1" says enough, "%1 in %2" does not.
    [[nodiscard]] bool isTelling() const { return m_letters >= tellingLetters; }

    /// What stands in the places, by their number; nothing if the text was not made from this pattern.
    [[nodiscard]] std::optional<std::map<int, QString>> match(const QString& text) const;
    [[nodiscard]] QString filled(const std::map<int, QString>& contents) const;

private:
    static constexpr int tellingLetters = 6;

    bool matchFrom(const QString& text, qsizetype at, std::size_t place, std::map<int, QString>& contents) const;

    QStringList m_literals; ///< one more than places
    std::vector<int> m_places;
    qsizetype m_weight = 0;
    int m_letters = 0; ///< outside the places; a Chinese one tells as much as two others
};

} // namespace mantissa
