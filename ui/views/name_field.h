/// A lane's name: reads like a label, shortened with an ellipsis where there is no room, and is edited in place.
#pragma once

#include <QLineEdit>
#include <QString>

namespace mantissa {

class NameField : public QLineEdit
{
    Q_OBJECT
public:
    explicit NameField(QWidget* parent = nullptr);

    /// Shown unless a person is typing.
    void setName(const QString& name);

    [[nodiscard]] QString name() const { return m_name; }

signals:
    void renamed(const QString& name);

protected:
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void finish();
    void shorten();

    QString m_name;
};

} // namespace mantissa
