/// Asks from which checkpoint a lane goes on, how far, and what is to be different.
#pragma once

#include "engine/store/run_store.h"
#include "engine/train/session.h"

#include <QDialog>

#include <filesystem>
#include <vector>

class QCheckBox;
class QFormLayout;
class QLabel;
class QProgressBar;
class QPushButton;
class QTreeWidget;

namespace mantissa {

class CheckpointReader;
class NumberField;
struct FoundCheckpoint;

class ResumeDialog : public QDialog
{
    Q_OBJECT
public:
    /// The checkpoints of a stored run.
    ResumeDialog(const std::filesystem::path& database, RunId run, QWidget* parent);
    /// One file.
    explicit ResumeDialog(const std::filesystem::path& file, QWidget* parent);
    ~ResumeDialog() override;

    [[nodiscard]] QTreeWidget* list() const { return m_list; }

    [[nodiscard]] NumberField* stepsField() const { return m_steps; }

    [[nodiscard]] QCheckBox* scalerBox() const { return m_scaler; }

    [[nodiscard]] NumberField* factorField() const { return m_factor; }

    [[nodiscard]] NumberField* factorStepsField() const { return m_factorSteps; }

    [[nodiscard]] QPushButton* resumeButton() const { return m_resume; }

    [[nodiscard]] QString problems() const; ///< as shown; empty if there are none

signals:
    void chosen(const mantissa::ResumedLane& lane); ///< before the dialog closes

private:
    explicit ResumeDialog(QWidget* parent);
    void makeForm(QFormLayout* form);
    void add(const FoundCheckpoint& found);
    void finishList();
    void showSelected();
    void showEnd();
    void setReading(bool isReading);
    void complain(const QString& problem);
    void resume();

    CheckpointReader* m_reader;
    QLabel* m_intro;
    QTreeWidget* m_list;
    QLabel* m_problems;
    NumberField* m_steps;
    QLabel* m_end;
    QCheckBox* m_scaler;
    NumberField* m_factor;
    NumberField* m_factorSteps;
    QProgressBar* m_progress;
    QPushButton* m_resume;
    std::vector<FoundCheckpoint> m_found; ///< by row
    bool m_isReading = true;
};

} // namespace mantissa
