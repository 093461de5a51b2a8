/// The browser of stored runs: search, sort, tag, note, delete with undo, show beside live curves, repeat, export.
#pragma once

#include "engine/store/run_store.h"
#include "ui/models/run_archive.h"

#include <QList>
#include <QWidget>

#include <filesystem>

class QAction;
class QLabel;
class QLineEdit;
class QStackedLayout;
class QTableView;
class QTimer;
class QToolButton;
class QUndoCommand;
class QUndoStack;

namespace mantissa {

class RunListModel;
class RunListOrder;

/// Never touches the database on the GUI thread. While a listed run is running and the view is visible, the list
/// follows it.
class RunsView : public QWidget
{
    Q_OBJECT
public:
    explicit RunsView(std::filesystem::path database, QWidget* parent = nullptr);
    ~RunsView() override;

    void refresh();
    /// Deletions and edits go onto `stack` instead of the view's own; it must outlive the view.
    void setUndoStack(QUndoStack* stack);

    [[nodiscard]] QUndoStack* undoStack() const { return m_undoStack; }

    /// Marks a run as shown or not, when somebody else than this view changed it.
    void setShown(RunId run, bool isShown);
    [[nodiscard]] QList<RunId> selectedRuns() const;
    [[nodiscard]] QString selectionAsText() const; ///< tab-separated, with a header line
    void exportSelected(const QString& file, RunArchive::Format format);

    /// Widths, order, visibility and sorting of the columns.
    [[nodiscard]] QByteArray saveState() const;
    bool restoreState(const QByteArray& state);

signals:
    void showRunRequested(mantissa::RunId run, bool isWanted);
    void rerunRequested(mantissa::RunId run);
    void resumeRequested(mantissa::RunId run);
    void lookRequested(mantissa::RunId run); ///< at its gradients and layers
    void findingsRequested(mantissa::RunId run);
    void compareRequested(mantissa::RunId a, mantissa::RunId b);

protected:
    void showEvent(QShowEvent* event) override;

private:
    void buildTable();
    void buildActions();
    void buildLayout();
    QAction* addAction(const char* name, const QString& text, const QString& explanation);
    void connectArchive();
    void showList(const RunArchive::Runs& runs);
    void updateState();
    void updateActions();
    [[nodiscard]] bool isImported(RunId run) const;
    void say(const QString& text);
    void chooseColumns(const QPoint& position);
    void toggleShown();
    void requestShown(RunId run, bool isWanted);
    void deleteSelected();
    void askForExport(RunArchive::Format format);
    void push(QUndoCommand* command);

    RunArchive* m_archive;
    RunListModel* m_model;
    RunListOrder* m_order;
    QUndoStack* m_undoStack;
    QMetaObject::Connection m_undoWatch;
    QLineEdit* m_search;
    QTableView* m_table;
    QLabel* m_placeholder;
    QStackedLayout* m_pages = nullptr;
    QWidget* m_messageRow;
    QLabel* m_message;
    QToolButton* m_undoButton;
    QTimer* m_follow;
    QAction* m_showCurves = nullptr;
    QAction* m_rerun = nullptr;
    QAction* m_resume = nullptr;
    QAction* m_look = nullptr;
    QAction* m_compare = nullptr;
    QAction* m_findings = nullptr;
    QAction* m_copy = nullptr;
    QAction* m_exportCsv = nullptr;
    QAction* m_exportJson = nullptr;
    QAction* m_delete = nullptr;
    const QUndoCommand* m_offeredUndo = nullptr; ///< the deletion that the undo button takes back
    QString m_loadTrouble;
    bool m_isLoaded = false;
};

} // namespace mantissa
