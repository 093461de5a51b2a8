/// Hand-outs: one PDF for each experiment of what is open, of a lesson or of the gallery, written in the background.
#pragma once

#include "engine/verify/reference_run.h"

#include <QDialog>
#include <QString>
#include <QThreadPool>

#include <functional>
#include <memory>
#include <string>
#include <vector>

class QCheckBox;
class QComboBox;
class QLabel;
class QProgressBar;
class QPushButton;

namespace mantissa {

struct HandoutItem
{
    QString fileName; ///< without a suffix
    Experiment experiment;
    std::optional<ReferenceRun> reference {}; ///< nothing: it is trained
};

/// What a person chooses from. `items` is called on the worker's thread and may throw Error.
struct HandoutChoice
{
    QString name;
    std::function<std::vector<HandoutItem>()> items;
};

/// The experiment with the run that ships with it, if it is one of those.
HandoutItem handoutOf(const Experiment& experiment, const std::filesystem::path& file);

class HandoutDialog : public QDialog
{
    Q_OBJECT
public:
    HandoutDialog(std::vector<HandoutChoice> choices, std::string device, QWidget* parent = nullptr);
    /// Cancels, and waits: at most a step or a page.
    ~HandoutDialog() override;

    /// Writes into the folder; files of the same names are replaced.
    void start(const QString& folder);
    void cancel();

    [[nodiscard]] QComboBox* choice() const { return m_choice; }

    [[nodiscard]] QCheckBox* trains() const { return m_trains; }

    [[nodiscard]] QProgressBar* progress() const { return m_progress; }

    /// How it went.
    [[nodiscard]] QString outcome() const;

signals:
    void ended(); ///< all written, cancelled or failed: outcome() says which

protected:
    void reject() override;

private:
    /// What the worker looks at.
    struct Order;

    void work(const std::shared_ptr<Order>& order);
    void setWorking(bool isWorking);
    void choose();

    std::vector<HandoutChoice> m_choices;
    std::string m_device;
    QComboBox* m_choice;
    QCheckBox* m_trains;
    QPushButton* m_start;
    QPushButton* m_cancel;
    QProgressBar* m_progress;
    QLabel* m_outcome;
    std::shared_ptr<Order> m_order; ///< null if nothing is being written
    QThreadPool m_pool;
};

} // namespace mantissa
