#include "ui/style/lane_combo.h"

#include "ui/language/language.h"
#include "ui/style/theme.h"

#include <algorithm>

namespace mantissa {

namespace {

constexpr QSize swatchSize(20, 16);

} // namespace

LaneCombo::LaneCombo(const QString& accessibleName, QWidget* parent)
    : QComboBox(parent)
{
    setAccessibleName(accessibleName);
    keepWords(this);
    setIconSize(swatchSize);
    setSizeAdjustPolicy(QComboBox::AdjustToContents);
    connect(this, &QComboBox::activated, this,
        [this](int index) { emit laneChosen(m_choices[static_cast<std::size_t>(index)].id); });
}

std::optional<std::uint32_t> LaneCombo::setLanes(
    const std::vector<LaneChoice>& lanes, const std::optional<std::uint32_t>& present)
{
    m_choices = lanes;
    clear();
    for (const LaneChoice& lane : lanes) {
        addItem(laneSwatch(lane.color, lane.style, true, swatchSize, devicePixelRatioF()), lane.name, lane.id);
    }
    const bool isKnown = present
        && std::any_of(lanes.begin(), lanes.end(), [&](const LaneChoice& lane) { return lane.id == *present; });
    if (isKnown) {
        return present;
    }
    return lanes.empty() ? std::nullopt : std::optional(lanes.front().id);
}

void LaneCombo::setLane(std::uint32_t lane)
{
    setCurrentIndex(findData(lane));
}

const LaneChoice* LaneCombo::look() const
{
    return currentIndex() < 0 ? nullptr : &m_choices[static_cast<std::size_t>(currentIndex())];
}

} // namespace mantissa
