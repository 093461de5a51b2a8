#include "ui/views/findings_panel.h"

#include "engine/core/error.h"
#include "ui/language/language.h"
#include "ui/models/run_cells.h"
#include "ui/session/run_loader.h"
#include "ui/session/session_controller.h"
#include "ui/style/number_format.h"
#include "ui/views/icon.h"
#include "ui/views/lane_words.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QTextBrowser>
#include <QTimer>
#include <QToolButton>
#include <QUrl>
#include <QVBoxLayout>

#include <algorithm>
#include <chrono>
#include <utility>

namespace mantissa {

namespace {

constexpr qint64 soonestMs = 3000; // between looks while it trains
constexpr qint64 restFactor = 20; // looking takes at most a twentieth of the time

Tone toneOf(Severity severity)
{
    return severity == Severity::Problem ? Tone::Problem : severity == Severity::Warning ? Tone::Notice : Tone::Plain;
}

QString severityText(Severity severity)
{
    return severity == Severity::Problem ? FindingsPanel::tr("problem")
        : severity == Severity::Warning  ? FindingsPanel::tr("warning")
                                         : FindingsPanel::tr("worth knowing");
}

QString confidenceText(Confidence confidence)
{
    return confidence == Confidence::Certain ? FindingsPanel::tr("certain")
        : confidence == Confidence::Likely   ? FindingsPanel::tr("likely")
                                             : FindingsPanel::tr("possible");
}

QString pairsText(const nlohmann::json& object);

QString numberText(const nlohmann::json& value)
{
    return value.is_number_integer() ? formatCount(value.get<std::int64_t>())
        : value.is_number()          ? formatValue(value.get<double>())
        : value.is_boolean()         ? (value.get<bool>() ? FindingsPanel::tr("yes") : FindingsPanel::tr("no"))
        : value.is_null()            ? FindingsPanel::tr("none")
        : value.is_string()          ? QString::fromStdString(value.get<std::string>())
        : value.is_object()          ? pairsText(value)
                                     : QString::fromStdString(value.dump());
}

/// The first few, as "fc1 1, fc2 0.98".
QString pairsText(const nlohmann::json& object)
{
    constexpr int most = 6;
    QStringList pairs;
    for (const auto& [name, value] : object.items()) {
        if (pairs.size() == most) {
            pairs << FindingsPanel::tr("%1 more").arg(object.size() - most);
            break;
        }
        pairs << QString::fromStdString(name) + QLatin1Char(' ') + numberText(value);
    }
    return pairs.join(QStringLiteral(", "));
}

} // namespace

namespace {

QString link(const QString& target, const QString& text)
{
    return QStringLiteral("<a href=\"%1\">%2</a>").arg(target.toHtmlEscaped(), text.toHtmlEscaped());
}

QString stepLink(std::int64_t step)
{
    return link(QStringLiteral("step:%1").arg(step), formatCount(step));
}

/// "fc1.out" of "fc1.out (linear, forward, fp16): 3 overflowed of 64 elements"
QString valueIn(const std::string& place)
{
    return QString::fromStdString(place.substr(0, place.find(' ')));
}

bool isOfGradient(LayerMeasure measure)
{
    return measure <= LayerMeasure::RelativeError;
}

/// Where the layer that a finding names can be looked at.
QString layerHtml(const Finding& finding, std::size_t number)
{
    if (finding.layer.empty() || !finding.measure) {
        return {};
    }
    const QString html = QStringLiteral("<br>")
        + link(QStringLiteral("layer:%1").arg(number), FindingsPanel::tr("Show it step by step in Layers"));
    return isOfGradient(*finding.measure) ? html + QStringLiteral(" \u00B7 ")
            + link(QStringLiteral("gradient:%1").arg(number), FindingsPanel::tr("its gradient's histogram"))
                                          : html;
}

QString fixHtml(const Finding& finding, const FixLinks& links)
{
    QStringList settings;
    for (const auto& [path, value] : finding.fix.items()) {
        settings << FindingsPanel::tr("%1 to %2").arg(settingName(path), numberText(value)).toHtmlEscaped();
    }
    QString html = link(QStringLiteral("fork:%1").arg(links.number), FindingsPanel::tr("Fork with this fix"));
    if (links.canCopy) {
        html += QStringLiteral(" \u00B7 ")
            + link(QStringLiteral("copy:%1").arg(links.number), FindingsPanel::tr("copy as it stands"));
    }
    return html + QStringLiteral(" (%1)").arg(settings.join(QStringLiteral(", ")));
}

} // namespace

QString findingHtml(const Finding& finding, const FixLinks& links)
{
    QStringList details {severityText(finding.severity), confidenceText(finding.confidence)};
    if (finding.firstStep >= 0) {
        details << (finding.firstStep == finding.lastStep
                ? FindingsPanel::tr("step %1").arg(stepLink(finding.firstStep))
                : FindingsPanel::tr("steps %1 to %2").arg(stepLink(finding.firstStep), stepLink(finding.lastStep)));
    }
    if (!finding.op.empty()) {
        details << FindingsPanel::tr("in %1").arg(
            link(QStringLiteral("op:") + valueIn(finding.op), valueIn(finding.op)));
    }
    for (const auto& [name, value] : finding.evidence.items()) {
        const bool isStep = QString::fromStdString(name).endsWith(QLatin1String("_step")) && value.is_number_integer();
        details << QString::fromStdString(name).replace(QLatin1Char('_'), QLatin1Char(' ')).toHtmlEscaped()
                + QLatin1Char(' ') + (isStep ? stepLink(value.get<std::int64_t>()) : numberText(value).toHtmlEscaped());
    }
    const QString sign = signOf(toneOf(finding.severity));
    const QString search = links.canBlame ? QStringLiteral("<br>")
            + link(QStringLiteral("blame:%1").arg(finding.firstStep), FindingsPanel::tr("Search for the ops to blame"))
                                          : QString();
    return QStringLiteral("<p><b>%1%2</b><br><small>%3</small><br>%4%5%6%7</p>")
        .arg(sign.isEmpty() ? QString() : sign + QLatin1Char(' '),
            QString::fromStdString(finding.title).toHtmlEscaped(), details.join(QStringLiteral(" \u00B7 ")),
            QString::fromStdString(finding.advice).toHtmlEscaped(), layerHtml(finding, links.number),
            finding.fix.empty() ? QString() : QStringLiteral("<br>") + fixHtml(finding, links), search);
}

FindingsPanel::FindingsPanel(SessionController* controller, RunLoader* loader, QWidget* parent)
    : QWidget(parent)
    , m_controller(controller)
    , m_loader(loader)
    , m_title(new QLabel)
    , m_text(new QTextBrowser)
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(8, 4, 8, 4);
    column->setSpacing(4);
    auto* row = new QHBoxLayout;
    row->addWidget(m_title, 1);
    auto* copyButton = new QToolButton;
    copyButton->setText(tr("Copy"));
    copyButton->setIcon(lineIcon(QStringLiteral("copy")));
    copyButton->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    copyButton->setAutoRaise(true);
    copyButton->setToolTip(tr("Copies the findings as text"));
    row->addWidget(copyButton);
    column->addLayout(row);
    m_title->setTextFormat(Qt::PlainText);
    m_text->setFrameShape(QFrame::NoFrame);
    m_text->setOpenLinks(false);
    connect(m_text, &QTextBrowser::anchorClicked, this, qOverload<const QUrl&>(&FindingsPanel::follow));
    m_text->setAccessibleName(tr("Findings"));
    column->addWidget(m_text, 1);
    connect(copyButton, &QToolButton::clicked, this, &FindingsPanel::copy);
    connect(m_loader, &RunLoader::laneDiagnosed, this,
        [this](std::uint32_t lane, const std::shared_ptr<const std::vector<Finding>>& findings) {
            display(lane, *findings);
        });
    connect(m_loader, &RunLoader::failed, this, [this] {
        // What could not be read now may be in a moment.
        m_isLooking = false;
        m_lookedAt = -1;
        QTimer::singleShot(soonestMs, this, qOverload<>(&FindingsPanel::follow));
    });
    constexpr int searchLookMs = 50;
    m_searchTimer.setInterval(searchLookMs);
    connect(&m_searchTimer, &QTimer::timeout, this, &FindingsPanel::lookForBlame);
    connect(m_controller, &SessionController::sessionReplaced, this, [this] {
        m_lookedAt = -1;
        m_isLooking = false;
        m_run.reset();
        m_searching = {};
        m_searchTimer.stop();
        m_blame.reset();
        m_blameTrouble.clear();
    });
    say(tr("Findings on the selected lane come here once it has trained."));
}

void FindingsPanel::showRun(const RunInfo& info, const std::vector<Finding>& findings)
{
    m_run = info.id;
    m_isLooking = false;
    m_title->setText(tr("Findings on %1").arg(runName(info)));
    m_findings = findings;
    for (Finding& finding : m_findings) { // no lane is there to be mended or looked into
        finding.fix = nlohmann::json::object();
        finding.op.clear();
        finding.layer.clear();
    }
    m_blame.reset();
    m_blameTrouble.clear();
    showAll();
    if (m_findings.empty()) {
        say(info.imported ? tr("No finding: nothing that the log tells looks wrong.")
                          : tr("No finding: nothing here looks wrong."));
    }
}

void FindingsPanel::setLane(std::optional<std::uint32_t> lane)
{
    if (lane == m_lane) {
        follow();
        return;
    }
    // A person who chooses another lane is done with the stored run; a session that has become ready is not a choice.
    if (m_lane) {
        m_run.reset();
    }
    m_lane = lane;
    m_lookedAt = -1;
    m_isLooking = false;
    m_searching = {};
    m_searchTimer.stop();
    m_blame.reset();
    m_blameTrouble.clear();
    if (!m_run) {
        m_findings.clear();
        say({});
    }
    follow();
}

void FindingsPanel::follow()
{
    if (m_run && !m_controller->isRunning()) {
        return;
    }
    if (std::exchange(m_run, std::nullopt)) {
        m_lookedAt = -1;
    }
    const LaneStatus* lane = m_lane ? m_controller->laneStatus(*m_lane) : nullptr;
    m_title->setText(
        lane != nullptr ? tr("Findings on \u201C%1\u201D").arg(m_controller->laneName(*m_lane)) : QString());
    if (lane == nullptr || m_isLooking || lane->nextStep == m_lookedAt || !isVisible()) {
        return;
    }
    if (!m_controller->writer()) {
        say(tr("Findings are made of stored runs, and runs are not being stored."));
    } else if (!m_controller->writer()->hasRun(*m_lane)) {
        say(tr("Findings on the selected lane come here once it has trained."));
    } else if (!m_controller->isRunning() || m_lookedAt < 0 || m_sinceLook.elapsed() >= m_waitMs) {
        m_lookedAt = lane->nextStep;
        look();
    }
}

void FindingsPanel::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::LanguageChange) {
        // What is on its way may be in either language.
        m_isLooking = false;
        m_lookedAt = -1;
        m_blameTrouble = inPresentLanguage(m_blameTrouble);
        if (!m_findings.empty() || m_blame) {
            showAll();
        }
        follow();
    }
    QWidget::changeEvent(event);
}

void FindingsPanel::look()
{
    m_isLooking = true;
    m_sinceLook.start();
    m_loader->diagnoseLane(m_controller->writer(), *m_lane);
}

void FindingsPanel::display(std::uint32_t lane, const std::vector<Finding>& findings)
{
    if (m_lane != lane || !m_isLooking) {
        return;
    }
    m_isLooking = false;
    m_waitMs = std::max(soonestMs, restFactor * m_sinceLook.elapsed());
    m_findings = findings;
    showAll();
    follow();
}

void FindingsPanel::showAll()
{
    QString html = blameHtml();
    for (std::size_t i = 0; i < m_findings.size(); ++i) {
        const Finding& finding = m_findings[i];
        html += findingHtml(finding, {.number = i, .canCopy = canCopy(finding), .canBlame = canBlame(finding)});
    }
    say(html.isEmpty() ? tr("No finding: nothing here looks wrong.") : html);
}

/// Where numbers broke at a step whose state is kept.
bool FindingsPanel::canBlame(const Finding& finding) const
{
    const LaneStatus* lane = m_lane ? m_controller->laneStatus(*m_lane) : nullptr;
    return lane != nullptr && !finding.op.empty() && finding.firstStep >= lane->earliestStep
        && finding.firstStep < lane->nextStep;
}

void FindingsPanel::searchBlame(std::int64_t step)
{
    if (!m_lane || m_searchTimer.isActive()) {
        return;
    }
    m_searching = m_controller->blame(*m_lane, step);
    if (m_searching.valid()) {
        m_blame.reset();
        m_blameTrouble = tr("Training step %1 again, in other formats\u2026").arg(formatCount(step));
        m_searchTimer.start();
        showAll();
    }
}

void FindingsPanel::lookForBlame()
{
    if (m_searching.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
        return;
    }
    m_searchTimer.stop();
    m_blameTrouble.clear();
    try {
        m_blame = m_searching.get();
    } catch (const std::exception& error) {
        m_blameTrouble = QString::fromUtf8(error.what());
    }
    showAll();
}

QString FindingsPanel::blameHtml() const
{
    if (!m_blame) {
        return m_blameTrouble.isEmpty() ? QString() : QStringLiteral("<p>%1</p>").arg(m_blameTrouble.toHtmlEscaped());
    }
    QString html = QStringLiteral("<p><b>%1</b><br>%2")
                       .arg(tr("Step %1, trained again %2 times")
                                .arg(formatCount(m_blame->step), formatCount(m_blame->trials))
                                .toHtmlEscaped(),
                           QString::fromStdString(textOf(*m_blame)).toHtmlEscaped());
    if (m_blame->origin) {
        const std::string& tensor = m_blame->origin->tensor;
        html += QStringLiteral("<br>") + link(QStringLiteral("op:") + valueIn(tensor), tr("Show it in the graph"));
    }
    if (!m_blame->fix.is_null()) {
        html += QStringLiteral("<br>") + link(QStringLiteral("mend:0"), tr("Fork with these ops in FP32"))
            + QStringLiteral(" \u00B7 ") + link(QStringLiteral("mendcopy:0"), tr("copy as it stands"));
    }
    return html + QStringLiteral("</p>");
}

void FindingsPanel::say(const QString& html)
{
    // A text that is set again loses its selection and its place.
    if (html != m_shown) {
        m_shown = html;
        m_text->setHtml(html);
    }
}

void FindingsPanel::follow(const QUrl& link)
{
    const QString what = link.path();
    if (link.scheme() == QLatin1String("step")) {
        emit stepWanted(what.toLongLong());
    } else if (link.scheme() == QLatin1String("op")) {
        emit opWanted(what);
    } else if (link.scheme() == QLatin1String("blame")) {
        searchBlame(what.toLongLong());
    } else if (link.scheme().startsWith(QLatin1String("mend"))) {
        if (m_blame && !m_blame->fix.is_null()) {
            Finding found;
            found.fix["precision.overrides"] = m_blame->fix["precision"]["overrides"];
            mend(found, link.scheme() == QLatin1String("mend"));
        }
    } else if (const std::size_t number = what.toULongLong(); number >= m_findings.size()) {
        return; // of findings that are gone
    } else if (link.scheme() == QLatin1String("layer")) {
        emit layerWanted(QString::fromStdString(m_findings[number].layer), *m_findings[number].measure);
    } else if (link.scheme() == QLatin1String("gradient")) {
        emit gradientWanted(QString::fromStdString(m_findings[number].layer));
    } else {
        mend(m_findings[number], link.scheme() == QLatin1String("fork"));
    }
}

/// Copies that go on need steps to come, numbers that are finite, and settings that may change.
bool FindingsPanel::canCopy(const Finding& finding) const
{
    const LaneStatus* lane = m_lane ? m_controller->laneStatus(*m_lane) : nullptr;
    if (lane == nullptr || lane->status != RunStatus::Running || m_controller->facts(*m_lane).nonFiniteSince >= 0) {
        return false;
    }
    try {
        LaneConfig config = *lane->config;
        for (const auto& [path, value] : finding.fix.items()) {
            config = withSetting(config, path, value);
        }
        return true;
    } catch (const Error&) {
        return false;
    }
}

void FindingsPanel::mend(const Finding& finding, bool fromStepZero)
{
    const LaneStatus* lane = m_lane ? m_controller->laneStatus(*m_lane) : nullptr;
    if (lane == nullptr) {
        return;
    }
    std::vector<std::pair<std::string, nlohmann::json>> settings;
    for (const auto& [path, value] : finding.fix.items()) {
        settings.emplace_back(path, value);
    }
    if (!fromStepZero) {
        m_controller->duplicateLane(*m_lane, settings);
        return;
    }
    try {
        LaneConfig config = withOverrides(*lane->config, settings);
        config.name = tr("%1, fixed").arg(m_controller->laneName(*m_lane)).toStdString();
        config.color.clear(); // a curve of its own
        config.document.erase("color");
        m_controller->addLane(config);
        emit notice(tr("\u201C%1\u201D begins at step 0 and catches up.").arg(QString::fromStdString(config.name)));
    } catch (const Error& error) {
        emit notice(QString::fromUtf8(error.what()));
    }
}

QString FindingsPanel::text() const
{
    return m_text->toPlainText();
}

void FindingsPanel::copy() const
{
    QGuiApplication::clipboard()->setText(text());
}

} // namespace mantissa
