/// Experiments as cards in as many columns as fit: a picture of what the lanes did, the claim's number, title, verdict.
#pragma once

#include <QListView>

namespace mantissa {

class CardView : public QListView
{
    Q_OBJECT
public:
    /// Of a GalleryFilter over a GalleryModel.
    explicit CardView(QWidget* parent = nullptr);

    /// What stands where no card does.
    void setEmptyText(const QString& text);
    [[nodiscard]] int columns() const; ///< beside each other

    [[nodiscard]] QSize cardSize() const { return gridSize(); }

protected:
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void fitCards();

    QString m_emptyText;
};

} // namespace mantissa
