/// Scalers without training: families side by side on steps that a person makes finite or not, or on the gradients of a
/// stored run.
#pragma once

#include "engine/scaling/scaler_play.h"
#include "ui/models/run_archive.h"

#include <QDialog>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

class QComboBox;
class QLabel;
class QListWidget;
class QSpinBox;
class QStackedWidget;
class QTableWidget;

namespace mantissa {

class RunLoader;
class ScalePathPlot;
class ScalerForm;
class TraceStrip;

class ScalerLab : public QDialog
{
    Q_OBJECT
public:
    /// An empty `database` has no runs to replay.
    explicit ScalerLab(const std::filesystem::path& database, QWidget* parent = nullptr);

private:
    enum Column { FamilyColumn, SkipsColumn, GrowthsColumn, FinalColumn, EndColumn, ColumnCount };

    QWidget* makeFamilies();
    QWidget* makeSource();
    QWidget* makeTraceEditor();
    QWidget* makeRunPicker();
    QWidget* makeResults();
    void listRuns(const RunArchive::Runs& runs);
    void chooseRun(int index);
    void chooseFamily(int row);
    void editParameter(const std::string& key, const nlohmann::json& value);
    void replay();
    void addResult(const ScalerFamily& family, const Play& play);
    [[nodiscard]] std::vector<PlayStep> stepsToPlay() const;
    [[nodiscard]] QColor colorOf(int family) const;

    std::map<std::string, ScalerConfig> m_configs; ///< by family, also of those that are not shown
    RunArchive* m_archive;
    RunLoader* m_loader;
    std::shared_ptr<const std::vector<PlayStep>> m_runSteps; ///< of the chosen run; null: none is chosen or read yet
    RunId m_run = 0;
    QListWidget* m_families = nullptr;
    QLabel* m_familyTitle = nullptr;
    QLabel* m_refusal = nullptr;
    ScalerForm* m_form = nullptr;
    QComboBox* m_source = nullptr;
    QStackedWidget* m_pages = nullptr;
    QComboBox* m_presets = nullptr;
    QSpinBox* m_length = nullptr;
    TraceStrip* m_strip = nullptr;
    QComboBox* m_runs = nullptr;
    QLabel* m_runNote = nullptr;
    ScalePathPlot* m_plot = nullptr;
    QTableWidget* m_results = nullptr;
};

} // namespace mantissa
