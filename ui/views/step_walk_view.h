/// One step of a lane, stage by stage, in large type for a lecture room: nothing else moves. Space or the right arrow
/// goes on, from the last stage to the next step.
#pragma once

#include "ui/views/walk_words.h"

#include <QDialog>

#include <future>
#include <optional>
#include <vector>

class QLabel;
class QPushButton;
class QTableWidget;
class QTimer;

namespace mantissa {

class SessionController;

class StepWalkView : public QDialog
{
    Q_OBJECT
public:
    /// Pauses the session and takes the lane's next step apart.
    StepWalkView(SessionController* controller, std::uint32_t lane, QWidget* parent = nullptr);

    void goOn();
    void goBack();

    [[nodiscard]] std::size_t page() const { return m_page; }

    [[nodiscard]] const std::vector<WalkPage>& pages() const { return m_pages; }

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    void prepare();
    void lookForResult();
    void trainStep();
    void showWalk();
    void showPage();
    void showStages();
    void showTable(const WalkPage& page);
    void showProblem(const QString& text);

    SessionController* m_controller;
    std::uint32_t m_lane;
    std::int64_t m_step = 0;
    std::future<StepWalk> m_walk; ///< on its way
    std::optional<StepWalk> m_shownWalk;
    std::vector<WalkPage> m_pages;
    std::size_t m_page = 0;
    bool m_isTraining = false; ///< the real lane does the step that was shown
    QTimer* m_timer;
    QLabel* m_title;
    QLabel* m_stages;
    QLabel* m_heading;
    QLabel* m_sentence;
    QTableWidget* m_table;
    QPushButton* m_back;
    QPushButton* m_next;
};

} // namespace mantissa
