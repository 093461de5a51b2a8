/// A choice among lanes, each with its swatch.
#pragma once

#include <QColor>
#include <QComboBox>
#include <QString>

#include <cstdint>
#include <optional>
#include <vector>

namespace mantissa {

/// A lane to choose from, looking as everywhere else.
struct LaneChoice
{
    std::uint32_t id = 0;
    QString name;
    QColor color;
    Qt::PenStyle style = Qt::SolidLine;
};

class LaneCombo : public QComboBox
{
    Q_OBJECT
public:
    explicit LaneCombo(const QString& accessibleName, QWidget* parent = nullptr);

    /// Returns the lane to show: `present` if it is among them, or else the first one, if any.
    std::optional<std::uint32_t> setLanes(
        const std::vector<LaneChoice>& lanes, const std::optional<std::uint32_t>& present);
    void setLane(std::uint32_t lane); ///< none, if it is not among them

    /// How the lane that is set looks; null if there is none.
    [[nodiscard]] const LaneChoice* look() const;

signals:
    void laneChosen(std::uint32_t lane); ///< by a person

private:
    std::vector<LaneChoice> m_choices;
};

} // namespace mantissa
