/// Where the window begins: the default experiment in one click, lessons, recent files, and the gallery as cards.
#pragma once

#include <QWidget>

class QComboBox;
class QLineEdit;
class QListWidget;
class QPushButton;

namespace mantissa {

class CardView;
class GalleryFilter;

class StartPage : public QWidget
{
    Q_OBJECT
public:
    explicit StartPage(QWidget* parent = nullptr);

    /// Reads the recent files again, and the first time what ships. `remembersRecent`: whether there are recent files.
    void reload(bool remembersRecent);
    void focusCards();

    [[nodiscard]] CardView* cards() const { return m_cards; }

    [[nodiscard]] QLineEdit* search() const { return m_search; }

    [[nodiscard]] QComboBox* verdicts() const { return m_verdicts; }

    [[nodiscard]] QListWidget* places() const { return m_places; } ///< lessons and recent files

    [[nodiscard]] QPushButton* trainButton() const { return m_train; }

signals:
    void openRequested(const QString& file); ///< an experiment or a lesson
    void trainDefaultRequested();
    void chooseRequested(); ///< a file, by a dialog
    void closeRequested();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QWidget* makeSide();
    QWidget* makeGallery();
    void escape(); ///< from what is filtered, or from the page
    void readShipped();
    void fitSide();

    QPushButton* m_train;
    QPushButton* m_choose;
    QPushButton* m_close;
    QListWidget* m_places;
    QLineEdit* m_search;
    QComboBox* m_verdicts;
    CardView* m_cards;
    GalleryFilter* m_filter;
    QWidget* m_side = nullptr;
    bool m_isRead = false;
    bool m_remembersRecent = true;
};

} // namespace mantissa
