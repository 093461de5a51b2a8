/// Builds a small sweep over the experiment that is open: up to three settings with their values.
#pragma once

#include "engine/sweep/sweep.h"

#include <QDialog>

#include <array>
#include <optional>
#include <string>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace mantissa {

class SweepDialog : public QDialog
{
    Q_OBJECT
public:
    static constexpr int mostSettings = 3;

    explicit SweepDialog(Experiment experiment, QWidget* parent = nullptr);

    /// What the fields say; nothing where they are wrong.
    [[nodiscard]] const std::optional<Sweep>& sweep() const { return m_sweep; }

    /// As a file that mantissa-cli sweep takes, also on another machine. Throws Error (Io).
    void saveTo(const QString& file) const;

    [[nodiscard]] QComboBox* settingField(int i) const { return m_settings.at(static_cast<std::size_t>(i)); }

    [[nodiscard]] QLineEdit* valuesField(int i) const { return m_values.at(static_cast<std::size_t>(i)); }

    [[nodiscard]] QComboBox* laneField() const { return m_lane; }

    [[nodiscard]] QLineEdit* nameField() const { return m_name; }

    [[nodiscard]] QPushButton* startButton() const { return m_start; }

    [[nodiscard]] QString message() const; ///< how many runs it makes, or what is wrong

private:
    void makeLayout();
    void read();
    void explain(int i);
    void save();
    [[nodiscard]] nlohmann::json document() const;

    Experiment m_experiment;
    QLineEdit* m_name;
    QComboBox* m_lane;
    std::array<QComboBox*, mostSettings> m_settings {};
    std::array<QLineEdit*, mostSettings> m_values {};
    QLabel* m_message;
    QPushButton* m_start;
    QPushButton* m_save;
    std::optional<Sweep> m_sweep;
};

/// "0.001, fp16, [1, 2]" as JSON values; what is no JSON is meant as a text.
nlohmann::json valuesFrom(const QString& text);

} // namespace mantissa
