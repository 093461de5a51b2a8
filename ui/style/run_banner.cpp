#include "ui/style/run_banner.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

namespace mantissa {

RunBanner::RunBanner(QWidget* parent)
    : QWidget(parent)
    , m_text(new QLabel)
{
    auto* back = new QToolButton;
    back->setText(tr("Back to the lane"));
    back->setAutoRaise(true);
    back->setToolTip(tr("Shows the selected lane again"));
    m_text->setAccessibleName(tr("Stored run that is shown"));
    m_text->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed); // a long name must not widen the window
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(8, 0, 4, 0);
    row->addWidget(m_text, 1);
    row->addWidget(back);
    hide();
    connect(back, &QToolButton::clicked, this, [this] {
        hide();
        emit closed();
    });
}

void RunBanner::showRun(const QString& name)
{
    m_text->setText(tr("Stored run: %1").arg(name));
    show();
}

} // namespace mantissa
