#include "ui/predict/predict_dialog.h"

#include "ui/style/number_format.h"
#include "ui/style/theme.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

#include <limits>

namespace mantissa {

namespace {

constexpr int mostHands = 9999;
constexpr double largeType = 1.4; // of the window's: it is read from the back of a room
constexpr QSize swatchSize(28, 20);

} // namespace

PredictDialog::PredictDialog(
    SessionController* controller, RunLoader* loader, const std::vector<LaneChoice>& lanes, QWidget* parent)
    : QDialog(parent)
    , m_controller(controller)
    , m_loader(loader)
    , m_lanes(lanes)
    , m_none(new QSpinBox)
    , m_step(new QSpinBox)
    , m_cause(new QComboBox)
    , m_run(new QPushButton(tr("Run")))
    , m_reveal(new QPushButton(tr("Reveal")))
    , m_said(new QLabel)
{
    setWindowTitle(tr("Predict, then reveal"));
    build();
    connect(m_run, &QPushButton::clicked, this, [this] {
        for (QSpinBox* hands : m_hands) {
            hands->setEnabled(false); // a guess is one from before the run
        }
        for (QWidget* field :
            {static_cast<QWidget*>(m_none), static_cast<QWidget*>(m_step), static_cast<QWidget*>(m_cause)}) {
            field->setEnabled(false);
        }
        m_controller->run();
    });
    connect(m_reveal, &QPushButton::clicked, this, &PredictDialog::reveal);
    connect(m_controller, &SessionController::statusChanged, this, &PredictDialog::follow);
    // Other lanes than those that were asked about.
    connect(m_controller, &SessionController::sessionReplaced, this, &QDialog::close);
    connect(m_loader, &RunLoader::laneDiagnosed, this,
        [this](std::uint32_t lane, const std::shared_ptr<const std::vector<Finding>>& findings) {
            for (const LaneChoice& each : m_lanes) {
                if (m_isRevealing && each.id == lane) {
                    m_fates[lane] = fateOf(each.name, *findings);
                }
            }
            showFates();
        });
    connect(m_loader, &RunLoader::failed, this, [this](const QString& why) {
        if (m_isRevealing) {
            m_isRevealing = false;
            m_said->setText(why);
            follow();
        }
    });
    follow();
}

void PredictDialog::build()
{
    QFont large = font();
    large.setPointSizeF(large.pointSizeF() * largeType);
    setFont(large);
    auto* grid = new QGridLayout;
    grid->setColumnStretch(1, 1);
    auto* question = new QLabel(tr("Which lane fails? Hands, please."));
    question->setWordWrap(true);
    grid->addWidget(question, 0, 0, 1, 3);
    int row = 1;
    const auto addHands = [&](const QString& name, const QIcon& icon, QSpinBox* hands) {
        auto* swatch = new QLabel;
        swatch->setPixmap(icon.pixmap(swatchSize));
        const int wide = fontMetrics().averageCharWidth() * 36; // a long name must not widen it further
        auto* label = new QLabel(fontMetrics().elidedText(name, Qt::ElideRight, wide));
        label->setToolTip(name);
        hands->setRange(0, mostHands);
        hands->setAccessibleName(tr("Hands for %1").arg(name));
        hands->setToolTip(tr("How many think so"));
        grid->addWidget(swatch, row, 0);
        grid->addWidget(label, row, 1);
        grid->addWidget(hands, row, 2);
        ++row;
    };
    for (const LaneChoice& lane : m_lanes) {
        m_hands.push_back(new QSpinBox);
        addHands(lane.name, laneSwatch(lane.color, lane.style, true, swatchSize, devicePixelRatioF()), m_hands.back());
    }
    addHands(tr("none of them"), {}, m_none);
    m_step->setRange(-1, std::numeric_limits<int>::max());
    m_step->setSpecialValueText(tr("not asked"));
    m_step->setValue(-1);
    m_step->setAccessibleName(tr("Step at which it fails"));
    m_cause->addItem(tr("not asked"));
    for (const FailureCause cause : allFailureCauses) {
        m_cause->addItem(titleOf(cause), static_cast<int>(cause));
    }
    m_cause->setAccessibleName(tr("Why it fails"));
    grid->addWidget(new QLabel(tr("From which step on?")), row, 0, 1, 2);
    grid->addWidget(m_step, row++, 2);
    grid->addWidget(new QLabel(tr("Because")), row++, 0, 1, 3);
    grid->addWidget(m_cause, row++, 0, 1, 3);
    m_said->setWordWrap(true);
    m_said->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_said->setAccessibleName(tr("Outcome"));
    m_said->setMinimumWidth(fontMetrics().averageCharWidth() * 48);
    m_said->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    buttons->addButton(m_run, QDialogButtonBox::ActionRole);
    buttons->addButton(m_reveal, QDialogButtonBox::ActionRole);
    m_run->setDefault(true);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::close);
    auto* column = new QVBoxLayout(this);
    column->addLayout(grid);
    column->addWidget(m_said, 1);
    column->addWidget(buttons);
}

void PredictDialog::follow()
{
    const auto status = m_controller->status();
    const bool hasTrained = status && status->step > 0;
    const bool isRunning = m_controller->isRunning();
    m_run->setEnabled(status && !isRunning && status->state != SessionState::Finished);
    m_run->setToolTip(tr("Closes the guesses and trains the lanes"));
    const bool isStored = m_controller->writer() != nullptr;
    m_reveal->setEnabled(hasTrained && !isRunning && isStored && !m_isRevealing && revealed().isEmpty());
    m_reveal->setToolTip(!isStored ? tr("Outcomes are found in stored runs, and runs are not being stored")
            : !hasTrained          ? tr("The lanes have not trained yet")
            : isRunning            ? tr("The lanes are still training")
                                   : tr("Says how each lane went, and who was right"));
}

void PredictDialog::reveal()
{
    m_isRevealing = true;
    m_fates.clear();
    for (const LaneChoice& lane : m_lanes) {
        m_loader->diagnoseLane(m_controller->writer(), lane.id);
    }
    follow();
}

Prediction PredictDialog::prediction() const
{
    Prediction prediction {.hands = {}, .none = m_none->value(), .step = {}, .cause = {}};
    for (const QSpinBox* hands : m_hands) {
        prediction.hands.push_back(hands->value());
    }
    if (m_step->value() >= 0) {
        prediction.step = m_step->value();
    }
    if (m_cause->currentIndex() > 0) {
        prediction.cause = static_cast<FailureCause>(m_cause->currentData().toInt());
    }
    return prediction;
}

void PredictDialog::showFates()
{
    if (!m_isRevealing || m_fates.size() < m_lanes.size()) {
        return;
    }
    m_isRevealing = false;
    std::vector<LaneFate> fates;
    for (const LaneChoice& lane : m_lanes) {
        fates.push_back(m_fates.at(lane.id));
    }
    m_said->setText(revealOf(prediction(), fates).join(QLatin1Char('\n')));
    adjustSize();
    follow();
}

QString PredictDialog::revealed() const
{
    return m_said->text();
}

} // namespace mantissa
