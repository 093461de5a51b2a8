#include "ui/views/icon.h"

#include <QFile>
#include <QGuiApplication>
#include <QIconEngine>
#include <QPainter>
#include <QPalette>
#include <QPixmap>
#include <QSvgRenderer>

/// Resources of a static library are dropped by the linker unless they are asked for.
static void initIcons()
{
    Q_INIT_RESOURCE(mantissa);
}

namespace mantissa {

namespace {

QString pathOf(const QString& name)
{
    static const bool isReady = (initIcons(), true);
    Q_UNUSED(isReady)
    return QStringLiteral(":/mantissa/icons/%1.svg").arg(name);
}

/// Colours the drawing at the moment of painting: a theme change needs no new icons.
class LineIconEngine : public QIconEngine
{
public:
    explicit LineIconEngine(const QString& name)
    {
        QFile file(pathOf(name));
        if (file.open(QIODevice::ReadOnly)) {
            m_svg = file.readAll();
        }
    }

    void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State) override
    {
        const QPalette palette = QGuiApplication::palette();
        const QPalette::ColorGroup group = mode == QIcon::Disabled ? QPalette::Disabled : QPalette::Active;
        const QPalette::ColorRole role = mode == QIcon::Selected ? QPalette::HighlightedText : QPalette::ButtonText;
        QByteArray svg = m_svg;
        svg.replace("currentColor", palette.color(group, role).name().toLatin1());
        QSvgRenderer renderer(svg);
        renderer.render(painter, rect);
    }

    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override
    {
        QPixmap pixmap(size);
        pixmap.fill(Qt::transparent);
        QPainter painter(&pixmap);
        paint(&painter, QRect(QPoint(0, 0), size), mode, state);
        return pixmap;
    }

    [[nodiscard]] QIconEngine* clone() const override { return new LineIconEngine(*this); }

private:
    QByteArray m_svg;
};

} // namespace

QIcon lineIcon(const QString& name)
{
    return QIcon(new LineIconEngine(name));
}

QIcon applicationIcon()
{
    return QIcon(pathOf(QStringLiteral("mantissa")));
}

} // namespace mantissa
