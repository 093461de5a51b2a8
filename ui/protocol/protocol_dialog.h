/// Trains the experiment in FP32 and then with AMP, says whether they are the same training, and saves the report. The
/// window's face of engine/protocol.
#pragma once

#include "engine/protocol/protocol.h"

#include <QDialog>
#include <QThreadPool>

#include <atomic>
#include <memory>
#include <string>

class QComboBox;
class QLabel;
class QProgressBar;
class QPushButton;
class QSpinBox;
class QTableWidget;
class QTabWidget;

namespace mantissa {

class PictureView;

class ProtocolDialog : public QDialog
{
    Q_OBJECT
public:
    /// `isBusy`: the window trains meanwhile, which disturbs the times.
    ProtocolDialog(Experiment experiment, std::string device, bool isBusy, QWidget* parent = nullptr);
    /// Cancels what trains, and waits for it: at most a step.
    ~ProtocolDialog() override;

    void start();
    void cancel();

    /// Null before the first one.
    [[nodiscard]] std::shared_ptr<const ProtocolResult> result() const { return m_result; }

    /// As HTML, PDF or JSON by the file's suffix. There must be a result. Throws Error (Io).
    void saveTo(const QString& file) const;

signals:
    void ended(); ///< with a result, or without where it was cancelled or failed

protected:
    void reject() override;

private:
    /// What the worker looks at.
    struct Order;

    void makeLayout(bool isBusy);
    void train(const std::shared_ptr<Order>& order);
    void showProgress(int permille, const QString& text);
    void showResult(std::shared_ptr<const ProtocolResult> result);
    void showProblem(const QString& text);
    void setTraining(bool isTraining);
    void save();

    Experiment m_experiment;
    std::string m_device;
    QComboBox* m_lane;
    QSpinBox* m_steps;
    QSpinBox* m_seeds;
    QPushButton* m_start;
    QPushButton* m_cancel;
    QPushButton* m_save;
    QProgressBar* m_progress;
    QLabel* m_verdict;
    PictureView* m_picture;
    QTabWidget* m_tabs;
    QTableWidget* m_checks;
    QTableWidget* m_numbers;
    QTableWidget* m_findings;
    QLabel* m_saved;
    std::shared_ptr<Order> m_order; ///< in training; null if none is
    std::shared_ptr<const ProtocolResult> m_result;
    QThreadPool m_pool;
};

} // namespace mantissa
