/// Asks how the window writes checkpoints by itself.
#pragma once

#include "ui/session/checkpoint_settings.h"

#include <QDialog>

class QCheckBox;
class QFormLayout;

namespace mantissa {

class NumberField;

class CheckpointDialog : public QDialog
{
    Q_OBJECT
public:
    /// `folder` is empty where no runs are stored, and so no checkpoints either.
    CheckpointDialog(const CheckpointSettings& settings, const std::filesystem::path& folder, QWidget* parent);

    [[nodiscard]] CheckpointSettings settings() const;

private:
    NumberField* addNumber(
        QFormLayout* form, const QString& name, const QString& unit, const QString& tip, double value, double least);

    QCheckBox* m_isOn;
    NumberField* m_everySeconds = nullptr;
    NumberField* m_everySteps = nullptr;
    NumberField* m_kept = nullptr;
    NumberField* m_mostGib = nullptr;
};

} // namespace mantissa
