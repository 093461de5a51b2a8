/// What is wrong with the selected lane, in plain words with its numbers: looked for in the stored run when training
/// pauses or ends, and now and then while it goes on.
#pragma once

#include "engine/diagnose/finding.h"

#include <QElapsedTimer>
#include <QWidget>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

class QLabel;
class QTextBrowser;
class QToolButton;

namespace mantissa {

class RunLoader;
class SessionController;

class FindingsPanel : public QWidget
{
    Q_OBJECT
public:
    FindingsPanel(SessionController* controller, RunLoader* loader, QWidget* parent = nullptr);

    void setLane(std::optional<std::uint32_t> lane);
    /// Looks again if it is time to; called with every new status.
    void follow();

    [[nodiscard]] QString text() const; ///< as shown, without its markup

private:
    void look();
    void display(std::uint32_t lane, const std::vector<Finding>& findings);
    void say(const QString& html);
    void copy() const;

    SessionController* m_controller;
    RunLoader* m_loader;
    std::optional<std::uint32_t> m_lane;
    std::int64_t m_lookedAt = -1; ///< the lane's next step when findings were last asked for
    bool m_isLooking = false;
    qint64 m_waitMs = 0; ///< until it is looked at again while it trains
    QElapsedTimer m_sinceLook;
    QString m_shown;
    QLabel* m_title;
    QTextBrowser* m_text;
};

/// One finding as HTML: its sentence, where, the numbers, and what to do.
QString findingHtml(const Finding& finding);

} // namespace mantissa
