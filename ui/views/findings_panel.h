/// What is wrong with the selected lane, in plain words with its numbers: looked for in the stored run when training
/// pauses or ends, and now and then while it goes on.
#pragma once

#include "engine/diagnose/finding.h"
#include "engine/store/run_store.h"
#include "engine/train/blame.h"
#include "engine/train/layer_measure.h"

#include <QElapsedTimer>
#include <QTimer>
#include <QWidget>

#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <vector>

class QLabel;
class QTextBrowser;
class QToolButton;
class QUrl;

namespace mantissa {

class RunLoader;
class SessionController;

class FindingsPanel : public QWidget
{
    Q_OBJECT
public:
    FindingsPanel(SessionController* controller, RunLoader* loader, QWidget* parent = nullptr);

    void setLane(std::optional<std::uint32_t> lane);
    /// Shows what was found in a stored run, until a lane is chosen or `setLane()` called for another.
    void showRun(const RunInfo& info, const std::vector<Finding>& findings);

    /// The stored run that is shown, if one is.
    [[nodiscard]] std::optional<RunId> shownRun() const { return m_run; }

    /// Looks again if it is time to; called with every new status.
    void follow();

    [[nodiscard]] QString text() const; ///< as shown, without its markup

    [[nodiscard]] QString html() const { return m_shown; }

    /// What a click on a link does: "step:12", "op:fc1.out", "layer:0" and "gradient:0" with the first finding's layer,
    /// "fork:0" and "copy:0" with the first finding's fix,
    /// "blame:12" searches for what made step 12 break, "mend:0" and "mendcopy:0" fork with what it found.
    void follow(const QUrl& link);

signals:
    void stepWanted(qint64 step);
    void opWanted(const QString& value); ///< the op that makes the value
    void layerWanted(const QString& layer, mantissa::LayerMeasure measure);
    void gradientWanted(const QString& layer);
    void notice(const QString& text); ///< something to say in the status bar

protected:
    void changeEvent(QEvent* event) override;

private:
    void look();
    void display(std::uint32_t lane, const std::vector<Finding>& findings);
    void say(const QString& html);
    void copy() const;
    void mend(const Finding& finding, bool fromStepZero);
    [[nodiscard]] bool canCopy(const Finding& finding) const;
    [[nodiscard]] bool canBlame(const Finding& finding) const;
    void searchBlame(std::int64_t step);
    void lookForBlame();
    void showAll();
    [[nodiscard]] QString blameHtml() const;

    SessionController* m_controller;
    RunLoader* m_loader;
    std::optional<std::uint32_t> m_lane;
    std::optional<RunId> m_run; ///< shown in the lane's place
    std::int64_t m_lookedAt = -1; ///< the lane's next step when findings were last asked for
    bool m_isLooking = false;
    qint64 m_waitMs = 0; ///< until it is looked at again while it trains
    QElapsedTimer m_sinceLook;
    QString m_shown;
    std::vector<Finding> m_findings; ///< as shown
    std::future<Blame> m_searching;
    QTimer m_searchTimer;
    std::optional<Blame> m_blame; ///< of the lane
    QString m_blameTrouble;
    QLabel* m_title;
    QTextBrowser* m_text;
};

/// What the fix of a finding can be made into.
struct FixLinks
{
    std::size_t number = 0; ///< position of the finding
    bool canCopy = false; ///< the settings may change while the lane trains
    bool canBlame = false; ///< the step can be looked at again
};

/// One finding as HTML: its sentence, where, the numbers, what to do, and links.
QString findingHtml(const Finding& finding, const FixLinks& links = {});

} // namespace mantissa
