#include "ui/start/start_page.h"

#include "engine/lesson/lesson.h"
#include "engine/verify/shipped_experiments.h"
#include "ui/language/language.h"
#include "ui/session/app_paths.h"
#include "ui/session/shipped_texts.h"
#include "ui/start/card_view.h"
#include "ui/start/gallery_model.h"
#include "ui/style/number_format.h"
#include "ui/style/verdict_words.h"

#include <QComboBox>
#include <QEvent>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QVBoxLayout>

#include <utility>

namespace mantissa {

namespace {

constexpr int sideLetters = 34;
constexpr int searchLetters = 20;

void addHead(QListWidget* list, const QString& text)
{
    auto* head = new QListWidgetItem(text, list);
    head->setFlags(Qt::NoItemFlags);
    QFont bold = list->font();
    bold.setBold(true);
    head->setFont(bold);
    head->setForeground(list->palette().color(QPalette::WindowText));
}

void addPlace(QListWidget* list, const QString& text, const QString& file, const QString& tip)
{
    auto* item = new QListWidgetItem(text, list);
    item->setData(Qt::UserRole, file);
    item->setToolTip(tip);
}

} // namespace

StartPage::StartPage(QWidget* parent)
    : QWidget(parent)
    , m_train(new QPushButton(tr("&Train the default experiment")))
    , m_choose(new QPushButton(tr("Open a &file\u2026")))
    , m_close(new QPushButton(tr("To the workbench")))
    , m_places(new QListWidget)
    , m_search(new QLineEdit)
    , m_verdicts(new QComboBox)
    , m_cards(new CardView)
    , m_filter(new GalleryFilter(this))
{
    setAccessibleName(tr("Start"));
    whenLanguageChanges(this, [this] {
        for (int i = 1; i < m_verdicts->count(); ++i) {
            m_verdicts->setItemText(i, verdictWords(m_verdicts->itemData(i).toString()));
        }
        if (std::exchange(m_isRead, false)) {
            reload(m_remembersRecent);
        }
    });
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(12, 8, 4, 8);
    row->setSpacing(12);
    m_side = makeSide();
    row->addWidget(m_side);
    row->addWidget(makeGallery(), 1);
    fitSide();
    connect(m_train, &QPushButton::clicked, this, &StartPage::trainDefaultRequested);
    connect(m_choose, &QPushButton::clicked, this, &StartPage::chooseRequested);
    connect(m_close, &QPushButton::clicked, this, &StartPage::closeRequested);
    const auto openPlace = [this](const QListWidgetItem* item) {
        if (const QString file = item->data(Qt::UserRole).toString(); !file.isEmpty()) {
            emit openRequested(file);
        }
    };
    const auto openCard
        = [this](const QModelIndex& card) { emit openRequested(card.data(GalleryModel::FileRole).toString()); };
    connect(m_places, &QListWidget::itemClicked, this, openPlace);
    connect(m_cards, &QListView::clicked, this, openCard);
    connect(m_search, &QLineEdit::textChanged, m_filter, &GalleryFilter::setWords);
    connect(m_verdicts, &QComboBox::currentIndexChanged, this,
        [this] { m_filter->setVerdict(m_verdicts->currentData().toString()); });
    for (QWidget* widget : {static_cast<QWidget*>(m_search), static_cast<QWidget*>(m_cards),
             static_cast<QWidget*>(m_places), static_cast<QWidget*>(m_train), static_cast<QWidget*>(m_choose),
             static_cast<QWidget*>(m_close), static_cast<QWidget*>(m_verdicts)}) {
        widget->installEventFilter(this);
    }
}

QWidget* StartPage::makeSide()
{
    auto* side = new QWidget;
    auto* column = new QVBoxLayout(side);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    m_train->setToolTip(tr("Opens it and trains its lanes: FP32, FP16 and BF16 side by side"));
    m_choose->setToolTip(tr("An experiment, a lesson or a checkpoint"));
    m_close->setToolTip(tr("Plots, lanes and panels (Escape)"));
    m_places->setFrameShape(QFrame::NoFrame);
    m_places->setAccessibleName(tr("Lessons and recent files"));
    m_places->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_places->setTextElideMode(Qt::ElideRight);
    m_places->viewport()->setAutoFillBackground(false);
    column->addWidget(m_train);
    column->addWidget(m_places, 1);
    column->addWidget(m_choose);
    column->addWidget(m_close);
    return side;
}

QWidget* StartPage::makeGallery()
{
    auto* gallery = new QWidget;
    auto* column = new QVBoxLayout(gallery);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    auto* row = new QHBoxLayout;
    row->setSpacing(8);
    auto* title = new QLabel(tr("Claims about AMP, put to the test"));
    QFont bold = title->font();
    bold.setBold(true);
    title->setFont(bold);
    m_search->setPlaceholderText(tr("Search: BatchNorm, clip, C18 \u2026"));
    m_search->setClearButtonEnabled(true);
    m_search->setAccessibleName(tr("Search the gallery"));
    m_verdicts->setAccessibleName(tr("Verdict"));
    m_verdicts->addItem(tr("Any verdict"), QString());
    for (const char* verdict : {"holds", "partly", "does not hold", "depends"}) {
        m_verdicts->addItem(verdictWords(QString::fromLatin1(verdict)), QString::fromLatin1(verdict));
    }
    row->addWidget(title);
    row->addWidget(m_search, 1);
    row->addWidget(m_verdicts);
    m_cards->setAccessibleName(tr("Gallery"));
    m_cards->setEmptyText(tr("No experiment has all these words and this verdict."));
    column->addLayout(row);
    column->addWidget(m_cards, 1);
    return gallery;
}

void StartPage::fitSide()
{
    m_search->setMinimumWidth(fontMetrics().averageCharWidth() * searchLetters);
    m_side->setFixedWidth(fontMetrics().averageCharWidth() * sideLetters);
}

void StartPage::readShipped()
{
    m_isRead = true;
    // The gallery first: it is what the page is for. The examples stand behind it.
    std::vector<std::filesystem::path> gallery;
    std::vector<std::filesystem::path> examples;
    for (const std::filesystem::path& file : shippedExperiments()) {
        (isInGallery(file) ? gallery : examples).push_back(file);
    }
    gallery.insert(gallery.end(), examples.begin(), examples.end());
    m_filter->setSourceModel(new GalleryModel(readGallery(gallery), m_filter));
    m_cards->setModel(m_filter);
    m_cards->setCurrentIndex(m_filter->index(0, 0));
    const auto keepCurrent = [this] {
        if (!m_cards->currentIndex().isValid()) {
            m_cards->setCurrentIndex(m_filter->index(0, 0));
        }
    };
    connect(m_filter, &QAbstractItemModel::rowsRemoved, this, keepCurrent);
    connect(m_filter, &QAbstractItemModel::rowsInserted, this, keepCurrent);
}

void StartPage::reload(bool remembersRecent)
{
    m_remembersRecent = remembersRecent;
    if (!m_isRead) {
        readShipped();
    }
    m_places->clear();
    const std::vector<std::filesystem::path> lessons = shippedLessons();
    if (!lessons.empty()) {
        addHead(m_places, tr("Lessons"));
    }
    for (const std::filesystem::path& file : lessons) {
        const QString path = QString::fromStdString(file.string());
        try {
            const Lesson lesson = loadLessonInPresentLanguage(file);
            addPlace(m_places, QString::fromStdString(lesson.name), path,
                tr("%1 steps, %2 minutes").arg(lesson.steps.size()).arg(formatValue(lesson.minutes())));
        } catch (const std::exception&) {
            addPlace(m_places, QFileInfo(path).fileName(), path, path); // opening it says what is wrong
        }
    }
    const QStringList recent = remembersRecent ? recentExperiments() : QStringList();
    if (!recent.isEmpty()) {
        addHead(m_places, tr("Recent"));
    }
    for (const QString& file : recent) {
        addPlace(m_places, QFileInfo(file).fileName(), file, file);
    }
}

void StartPage::focusCards()
{
    m_cards->setFocus(Qt::ShortcutFocusReason);
}

bool StartPage::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() != QEvent::KeyPress) {
        return QWidget::eventFilter(watched, event);
    }
    const int key = static_cast<QKeyEvent*>(event)->key();
    const bool isEnter = key == Qt::Key_Return || key == Qt::Key_Enter;
    if (key == Qt::Key_Escape) {
        escape();
        return true;
    }
    if (watched == m_search && (key == Qt::Key_Down || isEnter)) {
        focusCards();
        return true;
    }
    if (isEnter && watched == m_cards && m_cards->currentIndex().isValid()) {
        emit m_cards->clicked(m_cards->currentIndex());
        return true;
    }
    if (isEnter && watched == m_places && m_places->currentItem() != nullptr) {
        emit m_places->itemClicked(m_places->currentItem());
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

void StartPage::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Escape) {
        escape();
        return;
    }
    QWidget::keyPressEvent(event);
}

void StartPage::escape()
{
    if (!m_search->text().isEmpty() || m_verdicts->currentIndex() != 0) {
        m_search->clear();
        m_verdicts->setCurrentIndex(0);
    } else {
        emit closeRequested();
    }
}

void StartPage::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if ((event->type() == QEvent::FontChange || event->type() == QEvent::ApplicationFontChange) && m_side != nullptr) {
        fitSide();
    }
}

} // namespace mantissa
