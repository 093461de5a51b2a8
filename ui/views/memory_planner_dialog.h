/// Answers what training a GPT-like decoder of so many parameters takes, by kind of memory and precision policy, with
/// the assumptions written out. The window's face of engine/train/memory_planner.h.
#pragma once

#include "engine/train/memory_planner.h"

#include <QDialog>

#include <string>
#include <utility>
#include <vector>

class QCheckBox;
class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QTableWidget;

namespace mantissa {

class NumberField;

class MemoryPlannerDialog : public QDialog
{
    Q_OBJECT
public:
    explicit MemoryPlannerDialog(QWidget* parent = nullptr);

signals:
    void answered(); ///< the table shows what the fields ask

private:
    using Plans = std::vector<std::pair<std::string, MemoryBytes>>; ///< by policy

    NumberField* addNumber(QFormLayout* form, const QString& name, const QString& tip, double value, double least);
    void makeFields(QFormLayout* form);
    void ask();
    void showAnswer(const DecoderTraining& training, const Plans& plans);
    void showWhatFits();
    void copyTable() const;

    QLineEdit* m_parameters;
    NumberField* m_context;
    NumberField* m_batch;
    NumberField* m_vocabulary;
    QComboBox* m_optimizer;
    QCheckBox* m_fused;
    QCheckBox* m_checkpointing;
    NumberField* m_device;
    QTableWidget* m_table;
    QLabel* m_assumptions;
    Plans m_plans;
    int m_question = 0; ///< answers to earlier ones come too late
};

} // namespace mantissa
