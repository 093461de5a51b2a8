#include "ui/views/experiments_view.h"

#include "engine/lesson/lesson.h"
#include "engine/verify/shipped_experiments.h"
#include "ui/session/app_paths.h"
#include "ui/session/shipped_texts.h"

#include <QEvent>
#include <QFile>
#include <QFileInfo>
#include <QHeaderView>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSplitter>
#include <QTextBrowser>
#include <QTextDocument>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace mantissa {

namespace {

/// More than any experiment file; a huge one is listed by its file name only.
constexpr qint64 mostBytes = 1 << 20;

QString titleOf(const QString& path)
{
    QFile file(path);
    if (file.size() <= mostBytes && file.open(QIODevice::ReadOnly)) {
        const QString name = QJsonDocument::fromJson(file.readAll()).object().value(QStringLiteral("name")).toString();
        if (!name.isEmpty()) {
            return QString::fromStdString(inPresentLanguage(path.toStdString(), {name.toStdString(), {}}).name);
        }
    }
    return QFileInfo(path).completeBaseName();
}

} // namespace

ExperimentsView::ExperimentsView(QWidget* parent)
    : QWidget(parent)
    , m_list(new QTreeWidget)
    , m_text(new QTextBrowser)
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    auto* splitter = new QSplitter(Qt::Vertical);
    m_list->setHeaderHidden(true);
    m_list->setRootIsDecorated(true);
    m_list->setIndentation(12);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setAccessibleName(tr("Experiments"));
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_text->setFrameShape(QFrame::NoFrame);
    m_text->setOpenExternalLinks(true);
    m_text->setAccessibleName(tr("About this experiment"));
    m_text->document()->setDocumentMargin(12);
    splitter->addWidget(m_list);
    splitter->addWidget(m_text);
    splitter->setStretchFactor(0, 0);
    splitter->setStretchFactor(1, 1);
    splitter->setSizes({150, 450});
    splitter->setChildrenCollapsible(false);
    column->addWidget(splitter);
    connect(m_list, &QTreeWidget::itemActivated, this, &ExperimentsView::open);
    connect(m_list, &QTreeWidget::itemClicked, this, &ExperimentsView::open);
}

void ExperimentsView::reload(const QString& openFile)
{
    m_list->clear();
    const auto addSection = [this, &openFile](const QString& name, const QStringList& files) {
        if (files.isEmpty()) {
            return;
        }
        auto* section = new QTreeWidgetItem(m_list, {name});
        section->setFlags(Qt::ItemIsEnabled);
        QFont bold = m_list->font();
        bold.setBold(true);
        section->setFont(0, bold);
        for (const QString& file : files) {
            addFile(section, file, openFile);
        }
        section->setExpanded(true);
    };
    QStringList examples;
    QStringList gallery;
    for (const std::filesystem::path& file : shippedExperiments()) {
        (isInGallery(file) ? gallery : examples).append(QString::fromStdString(file.string()));
    }
    QStringList recent = recentExperiments();
    recent.removeIf([&](const QString& file) { return examples.contains(file) || gallery.contains(file); });
    addSection(tr("Examples"), examples);
    addSection(tr("Gallery: claims about AMP"), gallery);
    QStringList lessons;
    for (const std::filesystem::path& file : shippedLessons()) {
        lessons.append(QString::fromStdString(file.string()));
    }
    addSection(tr("Lessons"), lessons);
    addSection(tr("Recent"), recent);
}

void ExperimentsView::addFile(QTreeWidgetItem* section, const QString& file, const QString& openFile)
{
    auto* item = new QTreeWidgetItem(section, {titleOf(file)});
    item->setData(0, Qt::UserRole, file);
    item->setToolTip(0, item->text(0) + QLatin1Char('\n') + file);
    if (!openFile.isEmpty() && QFileInfo(file) == QFileInfo(openFile)) {
        m_list->setCurrentItem(item);
    }
}

void ExperimentsView::open(QTreeWidgetItem* item)
{
    const QString file = item->data(0, Qt::UserRole).toString();
    if (!file.isEmpty()) {
        emit openRequested(file);
    }
}

void ExperimentsView::showText(const QString& title, const QString& markdown)
{
    m_title = title;
    m_markdown = markdown;
    renderText();
}

void ExperimentsView::renderText()
{
    const QString body = m_markdown.isEmpty() ? tr("This experiment has no description.") : m_markdown;
    m_text->setMarkdown(QStringLiteral("### %1\n\n%2").arg(m_title, body));
}

QString ExperimentsView::text() const
{
    return m_text->toPlainText();
}

void ExperimentsView::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange && m_text && !m_markdown.isEmpty()) {
        renderText();
    }
    QWidget::changeEvent(event);
}

} // namespace mantissa
