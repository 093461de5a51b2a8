/// The parameters of a scaler family as fields under the names that its library gives them, each with its default,
/// range and meaning. What a person enters is announced; what is shown is what display() was given.
#pragma once

#include "engine/scaling/scaler_family.h"

#include <QWidget>

#include <nlohmann/json.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

class QCheckBox;
class QLabel;

namespace mantissa {

class NumberField;

class ScalerForm : public QWidget
{
    Q_OBJECT
public:
    enum class FirstScale { Shown, Hidden };

    explicit ScalerForm(FirstScale firstScale, QWidget* parent = nullptr);

    /// What waits to become a parameter's value, by its key; nothing if none does.
    using Pending = std::function<std::optional<nlohmann::json>(const std::string& key)>;

    void display(const ScalerConfig& config, const Pending& pending = {});
    /// All fields at once; `whyNot` becomes their tooltip where they are not usable.
    void setUsable(bool isUsable, const QString& whyNot);

    [[nodiscard]] QSize minimumSizeHint() const override; ///< wide enough for every family

signals:
    /// A person entered a value, or emptied the field: the family's default then, null if that is no limit.
    void edited(const std::string& key, const nlohmann::json& value);

private:
    struct Row
    {
        const ScalerParameter* parameter = nullptr;
        QLabel* label = nullptr;
        NumberField* field = nullptr; ///< null for a flag
        QCheckBox* box = nullptr; ///< null for a number
    };

    void rebuild(const ScalerFamily& family);
    void addNumber(const ScalerParameter& parameter);
    void addFlag(const ScalerParameter& parameter);

    FirstScale m_firstScale;
    const ScalerFamily* m_family = nullptr;
    std::vector<Row> m_rows;
};

/// A family's name for people: "PyTorch", "none".
QString scalerTitle(const std::string& family);

/// One sentence on what sets it apart.
QString scalerSummary(const std::string& family);

/// What a parameter does, its default and its range, in lines.
QString parameterHint(const ScalerParameter& parameter);

} // namespace mantissa
