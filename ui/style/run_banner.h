/// Says that a stored run is shown in place of the selected lane, and leads back to the lane.
#pragma once

#include <QWidget>

class QLabel;

namespace mantissa {

class RunBanner : public QWidget
{
    Q_OBJECT
public:
    explicit RunBanner(QWidget* parent = nullptr); ///< hidden at first

    void showRun(const QString& name);

signals:
    void closed(); ///< by a person; it is hidden then

private:
    QLabel* m_text;
};

} // namespace mantissa
