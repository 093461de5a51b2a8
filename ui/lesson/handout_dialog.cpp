#include "ui/lesson/handout_dialog.h"

#include "engine/core/clock.h"
#include "engine/core/error.h"
#include "engine/train/train_to_end.h"
#include "ui/report/handout_pdf.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QRegularExpression>
#include <QVBoxLayout>

#include <atomic>

namespace mantissa {

struct HandoutDialog::Order
{
    std::function<std::vector<HandoutItem>()> items;
    QString folder;
    std::string device;
    bool trains = false;
    std::atomic<bool> isCancelled = false;
};

namespace {

constexpr int permille = 1000;

using Progress = std::function<void(double share)>;

/// Throws Error (Cancelled) once `isCancelled`.
ReferenceRun trained(
    const Experiment& experiment, const std::string& device, const std::atomic<bool>& isCancelled, const Progress& show)
{
    OutcomeCollector collector;
    SessionOptions options;
    options.device = device;
    options.observers = {&collector};
    options.sampling = samplingFor(experiment);
    std::string name;
    {
        Session session(experiment, options);
        name = trainToEnd(session, [&](const SessionStatus& status) {
            show(static_cast<double>(status.step) / static_cast<double>(std::max<std::int64_t>(status.totalSteps, 1)));
            return !isCancelled.load();
        })->device.name;
    }
    if (isCancelled.load()) {
        throw Error(ErrorCode::Cancelled, "cancelled");
    }
    return makeReference(experiment, collector.outcomes(), name);
}

} // namespace

HandoutItem handoutOf(const Experiment& experiment, const std::filesystem::path& file)
{
    HandoutItem item {.fileName = {}, .experiment = experiment};
    static const QRegularExpression unwanted(
        QStringLiteral("[^\\w-]+"), QRegularExpression::UseUnicodePropertiesOption);
    const QString name = QString::fromStdString(file.empty() ? experiment.name : file.stem().string());
    item.fileName = name.toLower().replace(unwanted, QStringLiteral("_")).left(100);
    if (item.fileName.isEmpty()) {
        item.fileName = QStringLiteral("experiment");
    }
    if (!file.empty()) {
        item.reference = shippedReference(file, experiment);
    }
    return item;
}

HandoutDialog::HandoutDialog(std::vector<HandoutChoice> choices, std::string device, QWidget* parent)
    : QDialog(parent)
    , m_choices(std::move(choices))
    , m_device(std::move(device))
    , m_choice(new QComboBox)
    , m_trains(new QCheckBox(tr("Train again on this device")))
    , m_start(new QPushButton(tr("&Write\u2026")))
    , m_cancel(new QPushButton(tr("Ca&ncel")))
    , m_progress(new QProgressBar)
    , m_outcome(new QLabel)
{
    setWindowTitle(tr("Hand-outs"));
    m_pool.setMaxThreadCount(1);
    for (const HandoutChoice& each : m_choices) {
        m_choice->addItem(each.name);
    }
    m_choice->setAccessibleName(tr("What to hand out"));
    m_trains->setToolTip(tr("Otherwise the plots and numbers are those that ship; experiments without are trained"));
    m_start->setToolTip(tr("Asks for a folder"));
    m_progress->setRange(0, permille);
    m_progress->setAccessibleName(tr("Progress"));
    m_outcome->setText(
        tr("One PDF for each experiment: the claim, the plots, the text and the verdict with its numbers."));
    m_outcome->setWordWrap(true);
    m_outcome->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_outcome->setAccessibleName(tr("Outcome"));
    m_outcome->setMinimumWidth(fontMetrics().averageCharWidth() * 60);
    auto* form = new QFormLayout;
    form->addRow(tr("&Of"), m_choice);
    form->addRow(QString(), m_trains);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    buttons->addButton(m_start, QDialogButtonBox::ActionRole);
    buttons->addButton(m_cancel, QDialogButtonBox::ActionRole);
    m_start->setDefault(true);
    auto* column = new QVBoxLayout(this);
    column->addLayout(form);
    column->addWidget(m_outcome);
    column->addWidget(m_progress);
    column->addWidget(buttons);
    connect(m_start, &QPushButton::clicked, this, &HandoutDialog::choose);
    connect(m_cancel, &QPushButton::clicked, this, &HandoutDialog::cancel);
    connect(buttons, &QDialogButtonBox::rejected, this, &HandoutDialog::reject);
    setWorking(false);
}

HandoutDialog::~HandoutDialog()
{
    cancel();
    m_pool.waitForDone();
}

void HandoutDialog::choose()
{
    const QString folder = QFileDialog::getExistingDirectory(this, tr("A folder for the hand-outs"));
    if (!folder.isEmpty()) {
        start(folder);
    }
}

void HandoutDialog::start(const QString& folder)
{
    if (m_order != nullptr || m_choices.empty()) {
        return;
    }
    auto order = std::make_shared<Order>();
    order->items = m_choices[static_cast<std::size_t>(m_choice->currentIndex())].items;
    order->folder = folder;
    order->device = m_device;
    order->trains = m_trains->isChecked();
    m_order = order;
    m_progress->setValue(0);
    m_progress->setFormat(tr("preparing"));
    setWorking(true);
    m_pool.start([this, order] { work(order); });
}

/// On the worker's thread. The dialog outlives it, and what is sent to the dialog is dropped where it is gone.
void HandoutDialog::work(const std::shared_ptr<Order>& order)
{
    constexpr double pause = 0.05;
    double next = 0;
    QString outcome;
    QStringList failures;
    int written = 0;
    try {
        const std::vector<HandoutItem> items = order->items();
        for (std::size_t i = 0; i < items.size(); ++i) {
            const HandoutItem& item = items[i];
            const auto show = [&](double share) {
                if (steadySeconds() < next) {
                    return;
                }
                next = steadySeconds() + pause;
                const int done = static_cast<int>(
                    permille * (static_cast<double>(i) + std::min(share, 1.0)) / static_cast<double>(items.size()));
                const QString text = tr("%1 (%2 of %3)").arg(item.fileName).arg(i + 1).arg(items.size());
                QMetaObject::invokeMethod(
                    this,
                    [this, done, text] {
                        m_progress->setValue(done);
                        m_progress->setFormat(text);
                    },
                    Qt::QueuedConnection);
            };
            show(0);
            if (order->isCancelled.load()) {
                throw Error(ErrorCode::Cancelled, "cancelled");
            }
            try {
                const ReferenceRun run = item.reference && !order->trains
                    ? *item.reference
                    : trained(item.experiment, order->device, order->isCancelled, show);
                writeHandout(
                    item.experiment, run, QDir(order->folder).filePath(item.fileName + QStringLiteral(".pdf")));
                ++written;
            } catch (const Error& error) {
                // One that cannot be trained is no reason to leave out the others; a full disk is.
                if (error.code() == ErrorCode::Io || error.code() == ErrorCode::Cancelled) {
                    throw;
                }
                failures.append(tr("%1 is missing: %2").arg(item.fileName, QString::fromUtf8(error.what())));
            }
        }
        const QString folder = QDir::toNativeSeparators(order->folder);
        outcome
            = written == 1 ? tr("One file is in %1.").arg(folder) : tr("%1 files are in %2.").arg(written).arg(folder);
    } catch (const Error& error) {
        outcome = error.code() == ErrorCode::Cancelled
            ? tr("Cancelled. Files that were written before stay: %1.").arg(written)
            : QString::fromUtf8(error.what());
    } catch (const std::exception& error) {
        outcome = QString::fromUtf8(error.what());
    }
    failures.prepend(outcome);
    QMetaObject::invokeMethod(
        this,
        [this, text = failures.join(QLatin1Char('\n'))] {
            m_order.reset();
            m_outcome->setText(text);
            setWorking(false);
            emit ended();
        },
        Qt::QueuedConnection);
}

void HandoutDialog::cancel()
{
    if (m_order != nullptr) {
        m_order->isCancelled.store(true);
        m_cancel->setEnabled(false);
    }
}

void HandoutDialog::setWorking(bool isWorking)
{
    m_choice->setEnabled(!isWorking);
    m_trains->setEnabled(!isWorking);
    m_start->setEnabled(!isWorking && !m_choices.empty());
    m_cancel->setEnabled(isWorking);
    m_progress->setVisible(isWorking);
}

QString HandoutDialog::outcome() const
{
    return m_outcome->text();
}

void HandoutDialog::reject()
{
    cancel();
    QDialog::reject();
}

} // namespace mantissa
