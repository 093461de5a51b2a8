#include "ui/ranks/ranks_dialog.h"

#include "engine/core/error.h"
#include "ui/ranks/rank_job.h"

#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QSpinBox>
#include <QThread>
#include <QVBoxLayout>

#include <utility>

namespace mantissa {

RanksDialog::RanksDialog(Experiment experiment, const QString& selectedLane, const QString& obstacle, QWidget* parent)
    : QDialog(parent)
    , m_experiment(std::move(experiment))
    , m_obstacle(obstacle)
    , m_ranks(new QSpinBox)
    , m_lanes(new QListWidget)
    , m_problem(new QLabel)
{
    constexpr int mostRanks = 64;
    setObjectName(QStringLiteral("ranksDialog"));
    setWindowTitle(tr("Train on several processes"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 16, 16, 16);
    column->setSpacing(12);
    auto* text = new QLabel(
        tr("mpirun starts processes on this machine that train a lane together, from step 0: each on its share of "
           "every batch. The runs are drawn beside the lanes, and stored."));
    text->setWordWrap(true);
    column->addWidget(text);

    auto* form = new QFormLayout;
    form->setHorizontalSpacing(8);
    form->setVerticalSpacing(8);
    column->addLayout(form);
    m_ranks->setRange(2, mostRanks);
    m_ranks->setObjectName(QStringLiteral("ranks"));
    auto* row = new QHBoxLayout;
    row->setSpacing(8);
    row->addWidget(m_ranks);
    row->addWidget(new QLabel(tr("Cores of this machine: %1").arg(QThread::idealThreadCount())));
    row->addStretch(1);
    auto* label = new QLabel(tr("&Processes"));
    label->setBuddy(m_ranks);
    form->addRow(label, row);

    m_lanes->setObjectName(QStringLiteral("lanesOverRanks"));
    for (const LaneConfig& lane : m_experiment.lanes) {
        const QString name = QString::fromStdString(lane.name);
        auto* item = new QListWidgetItem(name, m_lanes);
        item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable);
        item->setCheckState(name == selectedLane || selectedLane.isEmpty() ? Qt::Checked : Qt::Unchecked);
    }
    auto* lanesLabel = new QLabel(tr("&Lanes"));
    lanesLabel->setBuddy(m_lanes);
    form->addRow(lanesLabel, m_lanes);

    m_problem->setObjectName(QStringLiteral("ranksProblem"));
    m_problem->setWordWrap(true);
    m_problem->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    column->addWidget(m_problem);
    column->addStretch(1);

    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
    m_start = buttons->addButton(tr("&Start"), QDialogButtonBox::AcceptRole);
    connect(buttons, &QDialogButtonBox::accepted, this, [this] {
        emit chosen(m_ranks->value(), m_text, chosenLanes());
        accept();
    });
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    column->addWidget(buttons);
    connect(m_ranks, &QSpinBox::valueChanged, this, &RanksDialog::check);
    connect(m_lanes, &QListWidget::itemChanged, this, &RanksDialog::check);
    resize(fontMetrics().averageCharWidth() * 76, sizeHint().height());
    check();
}

QStringList RanksDialog::chosenLanes() const
{
    QStringList names;
    for (int i = 0; i < m_lanes->count(); ++i) {
        if (m_lanes->item(i)->checkState() == Qt::Checked) {
            names << m_lanes->item(i)->text();
        }
    }
    return names;
}

QString RanksDialog::problem() const
{
    return m_problem->text();
}

void RanksDialog::check()
{
    QString problem = m_obstacle;
    m_text.clear();
    if (problem.isEmpty() && chosenLanes().isEmpty()) {
        problem = tr("Choose at least one lane.");
    } else if (problem.isEmpty()) {
        try {
            m_text = rankExperiment(m_experiment, chosenLanes(), m_ranks->value());
        } catch (const Error& error) {
            problem = QString::fromUtf8(error.what());
        }
    }
    m_problem->setText(problem);
    m_problem->setVisible(!problem.isEmpty());
    m_start->setEnabled(problem.isEmpty());
}

} // namespace mantissa
