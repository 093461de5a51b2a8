#include "ui/views/help_dialogs.h"

#include "ui/views/icon.h"

#include <QAction>
#include <QApplication>
#include <QDialog>
#include <QDialogButtonBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QTreeWidget>
#include <QVBoxLayout>

namespace mantissa {

namespace {

QDialog* makeDialog(const QString& title, QWidget* parent)
{
    auto* dialog = new QDialog(parent);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(title);
    return dialog;
}

void finish(QDialog* dialog, QVBoxLayout* column)
{
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::close);
    column->addWidget(buttons);
    dialog->show();
}

} // namespace

QDialog* showAbout(QWidget* parent)
{
    const auto tr = [](const char* text) { return QCoreApplication::translate("mantissa", text); };
    QDialog* dialog = makeDialog(tr("About Mantissa"), parent);
    auto* column = new QVBoxLayout(dialog);
    column->setContentsMargins(24, 24, 24, 16);
    column->setSpacing(16);
    auto* row = new QHBoxLayout;
    row->setSpacing(16);
    auto* picture = new QLabel;
    picture->setPixmap(applicationIcon().pixmap(QSize(64, 64), dialog->devicePixelRatioF()));
    row->addWidget(picture, 0, Qt::AlignTop);
    auto* text = new QLabel;
    text->setTextFormat(Qt::RichText);
    text->setTextInteractionFlags(Qt::TextBrowserInteraction);
    text->setOpenExternalLinks(true);
    text->setWordWrap(true);
    text->setMinimumWidth(text->fontMetrics().averageCharWidth() * 60);
    text->setText(
        QStringLiteral("<h3>Mantissa %1</h3><p>%2</p><p>%3</p><p>%4</p>")
            .arg(QCoreApplication::applicationVersion().toHtmlEscaped(),
                tr("A workbench for mixed-precision training: the same run in FP32, FP16 and BF16, side by side."),
                tr("Free software under the GNU General Public License, version 3 or later. "
                   "It comes without any warranty."),
                tr("Built on Qt %1, QCustomPlot, oneDNN, SQLite with SQLiteCpp, nlohmann/json, fmt, spdlog, CLI11 and "
                   "zlib.")
                    .arg(QString::fromLatin1(qVersion()))));
    row->addWidget(text, 1);
    column->addLayout(row);
    finish(dialog, column);
    return dialog;
}

QDialog* showShortcuts(const QList<Command>& commands, QWidget* parent)
{
    const auto tr = [](const char* text) { return QCoreApplication::translate("mantissa", text); };
    QDialog* dialog = makeDialog(tr("Keyboard shortcuts"), parent);
    auto* column = new QVBoxLayout(dialog);
    column->setContentsMargins(16, 16, 16, 16);
    column->setSpacing(8);
    auto* filter = new QLineEdit;
    filter->setPlaceholderText(tr("Filter"));
    filter->setAccessibleName(tr("Filter shortcuts"));
    column->addWidget(filter);
    auto* list = new QTreeWidget;
    list->setHeaderLabels({tr("Command"), tr("Keys")});
    list->setRootIsDecorated(false);
    list->setAccessibleName(tr("Keyboard shortcuts"));
    for (const Command& command : commands) {
        QStringList keys;
        for (const QKeySequence& key : command.action->shortcuts()) {
            keys << key.toString(QKeySequence::NativeText);
        }
        if (!keys.isEmpty()) {
            new QTreeWidgetItem(list, {command.path, keys.join(QStringLiteral(", "))});
        }
    }
    list->header()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
    column->addWidget(list, 1);
    const QFontMetrics metrics = dialog->fontMetrics();
    dialog->resize(metrics.averageCharWidth() * 80, metrics.height() * 32);
    QObject::connect(filter, &QLineEdit::textChanged, list, [list](const QString& text) {
        for (int row = 0; row < list->topLevelItemCount(); ++row) {
            QTreeWidgetItem* item = list->topLevelItem(row);
            item->setHidden(!(item->text(0) + item->text(1)).contains(text, Qt::CaseInsensitive));
        }
    });
    finish(dialog, column);
    return dialog;
}

} // namespace mantissa
