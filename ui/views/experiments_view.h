/// The shipped experiments, the recent files, and the text of the experiment that is open.
#pragma once

#include <QWidget>

class QTextBrowser;
class QTreeWidget;
class QTreeWidgetItem;

namespace mantissa {

class ExperimentsView : public QWidget
{
    Q_OBJECT
public:
    explicit ExperimentsView(QWidget* parent = nullptr);

    /// Reads the folder and the recent list again and marks `openFile`.
    void reload(const QString& openFile);
    void showText(const QString& title, const QString& markdown);

    [[nodiscard]] QTreeWidget* list() const { return m_list; }

    [[nodiscard]] QString text() const;

signals:
    void openRequested(const QString& file);

protected:
    void changeEvent(QEvent* event) override;

private:
    void addFile(QTreeWidgetItem* section, const QString& file, const QString& openFile);
    void open(QTreeWidgetItem* item);
    void renderText();

    QTreeWidget* m_list;
    QTextBrowser* m_text;
    QString m_title;
    QString m_markdown;
};

} // namespace mantissa
