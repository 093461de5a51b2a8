/// What becomes of a step's gradient on its way to the weights, a bar per stage. Kinds differ by shade and hatching and
/// are named in words.
#pragma once

#include "ui/layers/survival.h"
#include "ui/session/sample_history.h"

#include <QWidget>

namespace mantissa {

class SurvivalFunnel : public QWidget
{
    Q_OBJECT
public:
    explicit SurvivalFunnel(QWidget* parent = nullptr);

    void setSample(const SamplePtr& sample); ///< null: shows nothing

    [[nodiscard]] const std::vector<SurvivalStage>& stages() const { return m_stages; }

    [[nodiscard]] QRect barOf(std::size_t stage) const;
    /// The heading: what the bars are of, or that there is nothing to lose.
    [[nodiscard]] QString headingText() const;

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    [[nodiscard]] int lineHeight() const;
    [[nodiscard]] int stageHeight() const; ///< two lines where there is room for them
    [[nodiscard]] bool hasTwoLines() const;
    [[nodiscard]] int titleWidth() const;
    void paintBar(QPainter& painter, const QRectF& bar, const SurvivalStage& stage) const;

    SamplePtr m_sample;
    std::vector<SurvivalStage> m_stages;
};

} // namespace mantissa
