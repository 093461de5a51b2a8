/// A reference run as a picture with its lanes' names below.
#pragma once

#include "engine/verify/reference_run.h"

#include <QWidget>

#include <optional>

class QLabel;

namespace mantissa {

class ReferenceView : public QWidget
{
    Q_OBJECT
public:
    explicit ReferenceView(QWidget* parent = nullptr);

    void show(std::optional<ReferenceRun> reference); ///< nothing: hides the view

    [[nodiscard]] QString legend() const;

protected:
    void changeEvent(QEvent* event) override;

private:
    class Picture;

    void fillLegend();

    std::optional<ReferenceRun> m_reference;
    Picture* m_picture;
    QLabel* m_legend;
};

} // namespace mantissa
