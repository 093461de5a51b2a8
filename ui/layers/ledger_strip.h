/// The scaler's ledger over the whole run: skipped steps as dark ticks on a line of taken ones, changes of the scale as
/// triangles above (grown) and below (backed off).
#pragma once

#include "ui/layers/skip_ledger.h"

#include <QWidget>

#include <optional>

namespace mantissa {

class LedgerStrip : public QWidget
{
    Q_OBJECT
public:
    explicit LedgerStrip(QWidget* parent = nullptr);

    /// `ledger` must outlive the strip or be replaced; null: shows nothing.
    void setLedger(const SkipLedger* ledger);
    void setStep(std::optional<std::int64_t> step); ///< the chosen one
    void follow(); ///< the ledger has changed

    [[nodiscard]] int xOf(std::int64_t step) const;

    [[nodiscard]] QSize sizeHint() const override;

signals:
    void stepChosen(qint64 step);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Steps
    {
        std::int64_t first;
        std::int64_t last;
    };

    [[nodiscard]] std::optional<Steps> stepsAt(int x) const; ///< that a pixel stands for
    void choose(std::int64_t step);

    const SkipLedger* m_ledger = nullptr;
    std::optional<std::int64_t> m_step;
};

} // namespace mantissa
