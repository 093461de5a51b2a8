/// Asks what the columns of a training log are, shows its first rows, and imports it.
#pragma once

#include "engine/import/log_survey.h"
#include "engine/store/run_store.h"

#include <QDialog>
#include <QList>
#include <QStringList>

#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <optional>

class QCheckBox;
class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QTableWidget;
class QTimer;

namespace mantissa {

class ImportJob;

class ImportDialog : public QDialog
{
    Q_OBJECT
public:
    /// Looks into the log on another thread; the columns appear when that is done.
    ImportDialog(std::filesystem::path log, std::filesystem::path database, QWidget* parent = nullptr);
    ~ImportDialog() override;

    [[nodiscard]] QComboBox* comboOf(LogField field) const; ///< null before the log was looked into, or if it has none

    [[nodiscard]] QTableWidget* preview() const { return m_preview; }

    [[nodiscard]] QPushButton* importButton() const { return m_import; }

    [[nodiscard]] QCheckBox* watchBox() const { return m_watch; }

    [[nodiscard]] QLineEdit* nameField() const { return m_name; }

    [[nodiscard]] QString summary() const;

    /// What a person has changed of the guess.
    [[nodiscard]] ColumnMap::Choices choices() const;

public slots:
    void begin(); ///< the import

signals:
    /// It is stored. `job` goes on watching the log, if that was wanted, and is the receiver's then; else null.
    void imported(const QList<mantissa::RunId>& runs, const QStringList& notes, mantissa::ImportJob* job);

protected:
    void done(int result) override;

private:
    void build();
    void lookForSurvey();
    void display();
    void addCombo(LogField field, QFormLayout* form);
    void chosen(LogField field);
    void labelPreview();
    void updateButton();
    void say(const QString& text);

    std::filesystem::path m_log;
    std::filesystem::path m_database;
    std::future<LogSurvey> m_survey;
    std::optional<LogSurvey> m_found;
    std::map<LogField, QComboBox*> m_combos;
    std::vector<std::uint32_t> m_shown; ///< columns of the preview
    ImportJob* m_job = nullptr;
    QTimer* m_timer;
    QLabel* m_summary;
    QFormLayout* m_left = nullptr;
    QFormLayout* m_right = nullptr;
    QTableWidget* m_preview;
    QLineEdit* m_name;
    QCheckBox* m_watch;
    QLabel* m_message;
    QProgressBar* m_progress;
    QPushButton* m_import;
};

} // namespace mantissa
