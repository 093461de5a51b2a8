#include "ui/protocol/protocol_dialog.h"

#include "engine/core/clock.h"
#include "engine/core/error.h"
#include "engine/core/phrase.h"
#include "engine/protocol/protocol_report.h"
#include "ui/language/language.h"
#include "ui/plots/curve_export.h"
#include "ui/plots/picture_file.h"
#include "ui/protocol/picture_view.h"
#include "ui/report/report_pdf.h"
#include "ui/style/theme.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QSpinBox>
#include <QTabWidget>
#include <QTableWidget>
#include <QVBoxLayout>

#include <exception>

namespace mantissa {

struct ProtocolDialog::Order
{
    Experiment experiment;
    ProtocolOptions options;
    std::atomic<bool> isCancelled = false;
};

namespace {

constexpr int permille = 1000;

QString words(const std::string& text)
{
    return QString::fromStdString(text);
}

/// Severity by shape and word, never by colour alone.
QString levelText(CheckLevel level)
{
    switch (level) {
    case CheckLevel::Fine:
        return QStringLiteral("\u2713 ") + ProtocolDialog::tr("fine");
    case CheckLevel::Note:
        return QStringLiteral("\u2013 ") + ProtocolDialog::tr("note");
    case CheckLevel::Caution:
        return QStringLiteral("\u25B2 ") + ProtocolDialog::tr("caution");
    case CheckLevel::Problem:
        return QStringLiteral("\u2716 ") + ProtocolDialog::tr("problem");
    }
    return {};
}

QString verdictText(ProtocolVerdict verdict)
{
    switch (verdict) {
    case ProtocolVerdict::Healthy:
        return QStringLiteral("\u2713 ") + ProtocolDialog::tr("Healthy");
    case ProtocolVerdict::Caution:
        return QStringLiteral("\u25B2 ") + ProtocolDialog::tr("Caution");
    case ProtocolVerdict::Problem:
        return QStringLiteral("\u2716 ") + ProtocolDialog::tr("Problem");
    }
    return {};
}

/// Programs read it: it is the same in every language of the window.
std::string englishJson(const ProtocolRuns& runs)
{
    const PhraseTranslator before = setPhraseTranslator(nullptr);
    const auto json = protocolJson(judgeProtocol(runs));
    setPhraseTranslator(before);
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

QTableWidget* makeTable(const QStringList& titles, const QString& name)
{
    auto* table = new QTableWidget(0, static_cast<int>(titles.size()));
    table->setHorizontalHeaderLabels(titles);
    table->setAccessibleName(name);
    table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setTabKeyNavigation(false);
    table->verticalHeader()->hide();
    table->setShowGrid(false);
    return table;
}

QTableWidgetItem* cell(const QString& text, Qt::Alignment alignment = Qt::AlignLeft | Qt::AlignVCenter)
{
    auto* item = new QTableWidgetItem(text);
    item->setTextAlignment(alignment);
    item->setToolTip(text);
    return item;
}

} // namespace

ProtocolDialog::ProtocolDialog(Experiment experiment, std::string device, bool isBusy, QWidget* parent)
    : QDialog(parent)
    , m_experiment(std::move(experiment))
    , m_device(std::move(device))
    , m_lane(new QComboBox)
    , m_steps(new QSpinBox)
    , m_seeds(new QSpinBox)
    , m_start(new QPushButton(tr("&Compare")))
    , m_cancel(new QPushButton(tr("Ca&ncel")))
    , m_save(nullptr)
    , m_progress(new QProgressBar)
    , m_verdict(new QLabel)
    , m_picture(new PictureView)
    , m_tabs(new QTabWidget)
    , m_checks(makeTable({tr("Level"), tr("Question"), tr("Answer")}, tr("Questions and answers")))
    , m_numbers(makeTable({QString(), tr("FP32"), tr("AMP"), tr("AMP to FP32")}, tr("Numbers")))
    , m_findings(makeTable({tr("Severity"), tr("Finding"), tr("Advice")}, tr("Findings")))
    , m_saved(new QLabel)
{
    setWindowTitle(tr("Compare FP32 with AMP"));
    m_pool.setMaxThreadCount(1);
    makeLayout(isBusy);
    connect(m_start, &QPushButton::clicked, this, &ProtocolDialog::start);
    connect(m_cancel, &QPushButton::clicked, this, &ProtocolDialog::cancel);
    connect(m_save, &QPushButton::clicked, this, &ProtocolDialog::save);
    setTraining(false);
    const QFontMetrics metrics = fontMetrics();
    resize(metrics.averageCharWidth() * 165, metrics.height() * 48);
    whenLanguageChanges(this, [this] {
        if (m_result) {
            showResult(std::make_shared<const ProtocolResult>(judgeProtocol(m_result->runs)));
        }
    });
}

ProtocolDialog::~ProtocolDialog()
{
    cancel();
    m_pool.waitForDone();
}

void ProtocolDialog::makeLayout(bool isBusy)
{
    const std::vector<std::string> lanes = protocolLanes(m_experiment);
    for (const std::string& lane : lanes) {
        m_lane->addItem(words(lane), words(lane));
    }
    if (lanes.empty()) {
        m_lane->addItem(tr("FP16 with PyTorch\u2019s scaler"), QString());
        m_lane->setEnabled(false);
    }
    const QString laneTip = lanes.empty()
        ? tr("All lanes run in FP32, so AMP is FP16 with PyTorch\u2019s scaler")
        : tr("Whose precision, scaler and other settings AMP gets; FP32 is the same lane without them");
    m_lane->setToolTip(laneTip);
    m_lane->setAccessibleName(tr("Lane"));
    m_steps->setRange(static_cast<int>(ProtocolOptions::leastSteps), 1'000'000);
    m_steps->setValue(static_cast<int>(ProtocolOptions::usualSteps));
    m_steps->setSingleStep(100);
    m_steps->setAccelerated(true);
    m_steps->setToolTip(tr("Steps of each training; 300 are usual"));
    m_steps->setAccessibleName(tr("Steps"));
    m_seeds->setRange(1, 100);
    m_seeds->setToolTip(tr("With several seeds the noise is what FP32 spreads over them; with one it is estimated from "
                           "the jitter of the curves"));
    m_seeds->setAccessibleName(tr("Seeds"));
    m_start->setToolTip(tr("Train FP32 and then AMP from the same weights, on the same batches"));
    m_start->setDefault(true);
    m_cancel->setToolTip(tr("Stop within one step, without a result"));

    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 16, 16, 16);
    column->setSpacing(8);
    auto* top = new QHBoxLayout;
    top->setSpacing(8);
    const auto addField = [top](const QString& name, QWidget* field) {
        auto* label = new QLabel(name);
        label->setBuddy(field);
        top->addWidget(label);
        top->addWidget(field);
        top->addSpacing(8);
    };
    addField(tr("&Lane"), m_lane);
    addField(tr("&Steps"), m_steps);
    addField(tr("See&ds"), m_seeds);
    top->addWidget(m_start);
    top->addWidget(m_cancel);
    top->addStretch();
    column->addLayout(top);
    column->addWidget(m_progress);
    m_progress->setRange(0, permille);
    m_progress->setAccessibleName(tr("Progress"));

    m_verdict->setWordWrap(true);
    m_verdict->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_verdict->setAccessibleName(tr("Verdict"));
    QString invitation
        = tr("Trains the same steps twice, in FP32 and with the lane\u2019s precision, from the same "
             "weights on the same batches, and says whether they are the same training. The lanes of the "
             "window stay as they are.");
    if (isBusy) {
        invitation += QLatin1Char(' ')
            + tr("They are training at present, which makes the times of the comparison unsure: pause them first.");
    }
    m_verdict->setText(invitation);
    column->addWidget(m_verdict);
    m_picture->hide();
    column->addWidget(m_picture);

    m_checks->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_checks->horizontalHeader()->setStretchLastSection(true);
    m_numbers->setFont(tabularFont(m_numbers->font()));
    m_numbers->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    m_findings->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    m_findings->horizontalHeader()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
    for (QTableWidget* table : {m_checks, m_numbers, m_findings}) {
        table->setWordWrap(true);
        table->verticalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
        m_tabs->addTab(table, table->accessibleName());
    }
    m_tabs->hide();
    column->addWidget(m_tabs, 3);
    column->addStretch();

    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    m_save = buttons->addButton(tr("Save &report\u2026"), QDialogButtonBox::ActionRole);
    m_save->setToolTip(tr("A page to hand out, as HTML or PDF, or the numbers as JSON"));
    connect(buttons, &QDialogButtonBox::rejected, this, &ProtocolDialog::reject);
    auto* foot = new QHBoxLayout;
    m_saved->setAccessibleName(tr("What was saved"));
    foot->addWidget(m_saved, 1);
    foot->addWidget(buttons);
    column->addLayout(foot);
}

void ProtocolDialog::start()
{
    if (m_order != nullptr) {
        return;
    }
    auto order = std::make_shared<Order>();
    order->experiment = m_experiment;
    order->options.lane = m_lane->currentData().toString().toStdString();
    order->options.steps = m_steps->value();
    order->options.seeds = m_seeds->value();
    order->options.device = m_device;
    m_order = order;
    setTraining(true);
    showProgress(0, tr("preparing"));
    m_pool.start([this, order] { train(order); });
}

/// On the worker's thread. The dialog outlives it, and what is sent to the dialog is dropped where it is gone.
void ProtocolDialog::train(const std::shared_ptr<Order>& order)
{
    constexpr double pause = 0.05;
    double next = 0;
    const auto goOn = [&](const ProtocolProgress& state) {
        if (steadySeconds() >= next) {
            next = steadySeconds() + pause;
            const double share = static_cast<double>(state.status.step)
                / static_cast<double>(std::max<std::int64_t>(state.status.totalSteps, 1));
            const int done = static_cast<int>(permille * (state.run + std::min(share, 1.0)) / state.runs);
            const QString text = tr("%1 (%2 of %3)").arg(words(state.name)).arg(state.run + 1).arg(state.runs);
            QMetaObject::invokeMethod(
                this, [this, done, text] { showProgress(done, text); }, Qt::QueuedConnection);
        }
        return !order->isCancelled.load();
    };
    std::shared_ptr<const ProtocolResult> result;
    QString problem;
    try {
        result = std::make_shared<const ProtocolResult>(runProtocol(order->experiment, order->options, goOn));
    } catch (const Error& error) {
        problem = error.code() == ErrorCode::Cancelled ? tr("Cancelled: there is no result.")
                                                       : QString::fromUtf8(error.what());
    } catch (const std::exception& error) {
        problem = QString::fromUtf8(error.what());
    }
    QMetaObject::invokeMethod(
        this,
        [this, result, problem] {
            m_order.reset();
            setTraining(false);
            if (result) {
                showResult(result);
            } else {
                showProblem(problem);
            }
            emit ended();
        },
        Qt::QueuedConnection);
}

void ProtocolDialog::cancel()
{
    if (m_order != nullptr) {
        m_order->isCancelled.store(true);
        m_cancel->setEnabled(false);
    }
}

void ProtocolDialog::setTraining(bool isTraining)
{
    m_lane->setEnabled(!isTraining && !protocolLanes(m_experiment).empty());
    m_steps->setEnabled(!isTraining);
    m_seeds->setEnabled(!isTraining);
    m_start->setEnabled(!isTraining);
    m_cancel->setEnabled(isTraining);
    m_progress->setVisible(isTraining);
    m_save->setEnabled(!isTraining && m_result != nullptr);
}

void ProtocolDialog::showProgress(int done, const QString& text)
{
    m_progress->setValue(done);
    m_progress->setFormat(text);
}

void ProtocolDialog::showProblem(const QString& text)
{
    m_verdict->setText(text);
}

void ProtocolDialog::showResult(std::shared_ptr<const ProtocolResult> result)
{
    m_result = std::move(result);
    const ProtocolWords report = protocolWords(*m_result);
    m_verdict->setText(QStringLiteral("<big><b>%1.</b></big> %2")
                           .arg(verdictText(m_result->verdict), words(report.summary).toHtmlEscaped()));
    const ProtocolPictures pictures = protocolPictures(*m_result);
    m_picture->show(QByteArray::fromStdString(pictures.loss.svg), {pictures.loss.width, pictures.loss.height});
    m_picture->setAccessibleName(tr("Loss of FP32 and AMP by step, with the noise of FP32"));
    m_picture->setAccessibleDescription(words(m_result->checks.front().answer));
    m_picture->setVisible(true);

    const auto fill = [](QTableWidget* table, const std::vector<QStringList>& rows, Qt::Alignment alignment) {
        table->setRowCount(static_cast<int>(rows.size()));
        for (int row = 0; row < table->rowCount(); ++row) {
            const QStringList& texts = rows[static_cast<std::size_t>(row)];
            for (int place = 0; place < table->columnCount(); ++place) {
                table->setItem(
                    row, place, cell(texts[place], place == 0 ? Qt::AlignLeft | Qt::AlignVCenter : alignment));
            }
        }
    };
    std::vector<QStringList> checks;
    for (const ProtocolCheck& check : m_result->checks) {
        checks.push_back({levelText(check.level), words(check.question), words(check.answer)});
    }
    std::vector<QStringList> numbers;
    for (const ProtocolWords::Number& number : report.numbers) {
        numbers.push_back({words(number.name), words(number.fp32), words(number.amp), words(number.change)});
    }
    std::vector<QStringList> findings;
    for (const ProtocolFinding& found : m_result->findings) {
        findings.push_back({words(findingPlace(found, static_cast<int>(m_result->runs.amp.size()))),
            words(found.finding.title), words(found.finding.advice)});
    }
    fill(m_checks, checks, Qt::AlignLeft | Qt::AlignVCenter);
    fill(m_numbers, numbers, Qt::AlignRight | Qt::AlignVCenter);
    fill(m_findings, findings, Qt::AlignLeft | Qt::AlignVCenter);
    m_tabs->setTabText(m_tabs->indexOf(m_findings), tr("Findings (%1)").arg(findings.size()));
    m_tabs->setVisible(true);
    m_saved->clear();
    m_save->setEnabled(true);
    m_save->setFocus();
}

void ProtocolDialog::saveTo(const QString& file) const
{
    if (file.endsWith(QLatin1String(".pdf"), Qt::CaseInsensitive)) {
        writeReportPdf(*m_result, file);
        return;
    }
    const bool isJson = file.endsWith(QLatin1String(".json"), Qt::CaseInsensitive);
    const QByteArray text = QByteArray::fromStdString(isJson ? englishJson(m_result->runs) : protocolHtml(*m_result));
    writeFile(file, [&text](QIODevice& device) { return device.write(text) == text.size(); });
}

void ProtocolDialog::save()
{
    m_saved->setText(saveByDialog(this, tr("protocol.html"),
        tr("Page (*.html)") + QStringLiteral(";;") + tr("PDF (*.pdf)") + QStringLiteral(";;") + tr("JSON (*.json)"),
        [this](const QString& file) { saveTo(file); }));
}

void ProtocolDialog::reject()
{
    cancel();
    QDialog::reject();
}

} // namespace mantissa
