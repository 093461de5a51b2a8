/// A slider over a logarithmic range with an exact field beside it. The slider names round values; the field takes
/// any. Both report a value once: when the handle is let go or moved by key, when the field is done.
#pragma once

#include <QWidget>

class QSlider;

namespace mantissa {

class NumberField;

class LogSlider : public QWidget
{
    Q_OBJECT
public:
    enum class Kind {
        PowersOfTwo, ///< 2^0 to 2^32
        Rates ///< 1e-6 to 1, ten stops per decade, rounded to two digits
    };

    LogSlider(Kind kind, const QString& name, QWidget* parent = nullptr);

    void setValue(double value); ///< shown unless a person is at it
    [[nodiscard]] double value() const;
    void setPending(bool isPending);
    void setHint(const QString& hint); ///< tooltip of both

    [[nodiscard]] NumberField* field() const { return m_field; }

    [[nodiscard]] QSlider* slider() const { return m_slider; }

signals:
    void committed(double value);

private:
    [[nodiscard]] double valueAt(int position) const;
    [[nodiscard]] int positionOf(double value) const;
    void commitSlider();

    Kind m_kind;
    QSlider* m_slider;
    NumberField* m_field;
    bool m_isMoved = false; ///< a person moved the handle since the last commit
    bool m_isFollowing = false; ///< the slider moves because the value did
};

} // namespace mantissa
