#include "ui/views/walk_words.h"

#include "ui/style/number_format.h"
#include "ui/views/lane_words.h"
#include "ui/views/order_words.h"

#include <QCoreApplication>

#include <cmath>

namespace mantissa {

namespace {

QString formatName(DType dtype)
{
    return QString::fromUtf8(nameOf(dtype).data(), static_cast<qsizetype>(nameOf(dtype).size())).toUpper();
}

QString share(std::uint64_t part, std::uint64_t whole)
{
    return whole == 0 ? QString() : percent(static_cast<double>(part) / static_cast<double>(whole));
}

QString share(std::int64_t part, std::int64_t whole)
{
    return share(static_cast<std::uint64_t>(part), static_cast<std::uint64_t>(whole));
}

/// Writes the pages of one walk.
class Pages
{
    Q_DECLARE_TR_FUNCTIONS(mantissa)

public:
    explicit Pages(const StepWalk& walk)
        : m_walk(walk)
        , m_config(*walk.config)
        , m_hasScaler(m_config.scaler && m_config.scaler->family != "none")
    {
    }

    std::vector<WalkPage> write() &&
    {
        for (const WalkedStage& stage : m_walk.stages) {
            add(stage);
        }
        return std::move(m_pages);
    }

private:
    void add(const WalkedStage& stage)
    {
        switch (stage.stage) {
        case StepStage::Data:
            m_pages.push_back(dataPage(stage));
            break;
        case StepStage::Forward:
            m_pages.push_back(forwardPage(stage));
            m_pages.push_back(lossPage());
            m_pages.push_back(scalePage());
            break;
        case StepStage::Backward:
            m_pages.push_back(backwardPage(stage));
            break;
        case StepStage::Unscale:
            m_pages.push_back(unscalePage(stage));
            break;
        case StepStage::Check:
            m_pages.push_back(checkPage());
            break;
        case StepStage::Clip:
            m_pages.push_back(clipPage(stage));
            break;
        case StepStage::Step:
            m_pages.push_back(stepPage(stage));
            break;
        case StepStage::Update:
            m_pages.push_back(updatePage());
            break;
        case StepStage::Schedule:
            m_pages.push_back(schedulePage());
            break;
        }
    }

    static WalkPage tensorPage(const QString& title, const std::vector<WalkedTensor>& tensors)
    {
        WalkPage page {.title = title};
        page.columns = {
            tr("tensor"), tr("format"), tr("largest"), tr("smallest"), tr("zero"), tr("subnormal"), tr("not finite")};
        for (const WalkedTensor& tensor : tensors) {
            page.rows.push_back({QString::fromStdString(tensor.name), formatName(tensor.dtype),
                formatValue(tensor.largest), formatValue(tensor.smallest), share(tensor.zeros, tensor.elements),
                share(tensor.subnormal, tensor.elements), formatCount(tensor.nonFinite)});
            page.isAlarming = page.isAlarming || tensor.nonFinite > 0 || tensor.zeros == tensor.elements;
        }
        return page;
    }

    static void addRoundings(WalkPage& page, const std::vector<WalkedRounding>& roundings)
    {
        page.columns
            = {tr("tensor"), tr("rounded to"), tr("flushed to zero"), tr("subnormal"), tr("overflowed"), tr("NaN")};
        page.rows.clear();
        for (const WalkedRounding& rounding : roundings) {
            const Census& census = rounding.census;
            page.rows.push_back({QString::fromStdString(rounding.name), formatName(rounding.dtype),
                share(census.flushed, census.total()), share(census.subnormal, census.total()),
                share(census.overflowed, census.total()), share(census.nan, census.total())});
            page.isAlarming = page.isAlarming || census.overflowed > 0 || census.nan > 0;
        }
    }

    [[nodiscard]] WalkPage dataPage(const WalkedStage& stage) const
    {
        WalkPage page = tensorPage(tr("data"), stage.tensors);
        page.sentence
            = tr("%1 samples of %2").arg(formatCount(m_config.data.batch), QString::fromStdString(m_config.data.kind));
        if (m_config.accumulation.steps > 1) {
            page.sentence += tr(", the last of %1 micro-batches").arg(formatCount(m_config.accumulation.steps));
        }
        page.sentence += tr(". Lanes of one seed see the same ones.");
        if (stage.tensors.empty()) {
            page.columns.clear();
        }
        return page;
    }

    [[nodiscard]] WalkPage forwardPage(const WalkedStage& stage) const
    {
        WalkPage page {.title = tr("forward")};
        addRoundings(page, stage.roundings);
        page.sentence = m_walk.opsInHalf == 0
            ? tr("All %1 ops run in FP32: nothing is rounded to 16 bits.").arg(m_walk.opsInFull)
            : tr("%1 ops run in 16 bits, %2 in FP32; %3 casts lie between them. What rounding does:")
                  .arg(m_walk.opsInHalf)
                  .arg(m_walk.opsInFull)
                  .arg(m_walk.casts);
        if (stage.roundings.empty()) {
            page.columns.clear();
        }
        return page;
    }

    [[nodiscard]] WalkPage lossPage() const
    {
        WalkPage page {.title = tr("loss")};
        page.sentence = tr("The loss is %1%2.")
                            .arg(formatValue(m_walk.record.loss),
                                m_config.precision.hasHalfWeights() ? QString() : tr(", in FP32"));
        page.isAlarming = !m_walk.record.lossFinite;
        return page;
    }

    [[nodiscard]] WalkPage scalePage() const
    {
        WalkPage page {.title = tr("scale")};
        const double scale = m_walk.record.scale;
        page.sentence = !m_hasScaler
            ? tr("No scaler: the loss goes backward as it is.")
            : tr("%1 \u00D7 %2 = %3: every gradient becomes %2 times as large, so that small ones "
                 "keep above the smallest number of 16 bits.")
                  .arg(formatValue(m_walk.record.loss), formatScale(scale), formatValue(m_walk.record.loss * scale));
        return page;
    }

    [[nodiscard]] WalkPage backwardPage(const WalkedStage& stage) const
    {
        WalkPage page = tensorPage(tr("backward"), stage.tensors);
        const bool isAlarming = page.isAlarming;
        if (!stage.roundings.empty()) {
            addRoundings(page, stage.roundings);
        }
        page.isAlarming = page.isAlarming || isAlarming;
        page.sentence = m_hasScaler
            ? tr(
                "The gradients carry the scale; their norm is %1. Of the parameters' gradients %2 were flushed to zero "
                "and %3 overflowed.")
                  .arg(formatValue(stage.norm), percent(m_walk.record.flushed), percent(m_walk.record.overflowed))
            : tr("The norm of the gradients is %1. %2 of them were flushed to zero and %3 overflowed.")
                  .arg(formatValue(stage.norm), percent(m_walk.record.flushed), percent(m_walk.record.overflowed));
        return page;
    }

    [[nodiscard]] WalkPage unscalePage(const WalkedStage& stage) const
    {
        WalkPage page = tensorPage(blockLabel(StepBlock::Unscale), stage.tensors);
        page.sentence = m_hasScaler ? tr("Divided by %1, in FP32: the norm is now %2.")
                                          .arg(formatScale(m_walk.unscaledBy), formatValue(stage.norm))
                                    : tr("Nothing to divide by; the norm is %1.").arg(formatValue(stage.norm));
        return page;
    }

    [[nodiscard]] WalkPage checkPage() const
    {
        WalkPage page {.title = blockLabel(StepBlock::Check)};
        page.isAlarming = m_walk.record.foundInf;
        page.sentence = !m_walk.record.foundInf ? tr("Every gradient is finite.")
            : m_walk.record.skipped             ? tr("There is an infinity or NaN: the step will be skipped.")
            : m_hasScaler                       ? tr("There is an infinity or NaN, but nothing skips the step.")
                                                : tr("There is an infinity or NaN, and no scaler to skip the step.");
        return page;
    }

    [[nodiscard]] WalkPage clipPage(const WalkedStage& stage) const
    {
        const ClipConfig& clip = m_config.clip;
        if (clip.order == ClipOrder::Off) {
            return {.title = blockLabel(StepBlock::Clip), .sentence = tr("Clipping is off.")};
        }
        WalkPage page = tensorPage(blockLabel(StepBlock::Clip), stage.tensors);
        const double before = m_walk.record.gradNorm;
        const double after = m_walk.record.gradNormClipped;
        page.sentence = clip.maxValue ? tr("Each element is held within %1; the norm goes from %2 to %3.")
                                            .arg(formatValue(*clip.maxValue), formatValue(before), formatValue(after))
                                      : tr("The threshold is %1; the true norm goes from %2 to %3.")
                                            .arg(formatValue(*clip.maxNorm), formatValue(before), formatValue(after));
        if (clip.order == ClipOrder::ClipThenUnscale && m_walk.record.scale != 1) {
            page.isAlarming = true;
            page.sentence
                += tr(" It meets gradients that still carry the scale, so it acts as %1.")
                       .arg(formatValue(clip.maxNorm.value_or(clip.maxValue.value_or(0)) / m_walk.record.scale));
        }
        return page;
    }

    [[nodiscard]] WalkPage stepPage(const WalkedStage& stage) const
    {
        WalkPage page {.title = blockLabel(StepBlock::Step)};
        if (m_walk.record.skipped && !m_config.optimizer.extraStep) {
            page.sentence = tr("Skipped: the weights stay as they are.");
            page.isAlarming = true;
            return page;
        }
        page.sentence = tr("%1 at a rate of %2: the weights move by %3 of their size.")
                            .arg(QString::fromStdString(m_config.optimizer.kind), formatValue(m_walk.record.lr),
                                percent(m_walk.record.updateRatio));
        if (m_walk.record.updateRatio < 1e-3) {
            page.sentence = tr("%1 at a rate of %2: the weights move by %3 of their size.")
                                .arg(QString::fromStdString(m_config.optimizer.kind), formatValue(m_walk.record.lr),
                                    formatValue(m_walk.record.updateRatio));
        }
        page.columns = {
            tr("parameter"), tr("stored in"), tr("|update| / |weights|"), tr("moved"), tr("update lost in rounding")};
        for (const WalkedUpdate& update : stage.updates) {
            page.rows.push_back({QString::fromStdString(update.name), formatName(update.dtype),
                formatValue(update.ratio), share(update.moved, update.elements), share(update.lost, update.elements)});
            page.isAlarming = page.isAlarming || !std::isfinite(update.ratio) || update.lost * 2 > update.elements;
        }
        return page;
    }

    [[nodiscard]] WalkPage updatePage() const
    {
        WalkPage page {.title = blockLabel(StepBlock::Update)};
        const double before = m_walk.record.scale;
        const double after = m_walk.scaleAfter;
        page.sentence = !m_hasScaler ? tr("No scaler.")
            : after < before ? tr("The scale backs off from %1 to %2.").arg(formatScale(before), formatScale(after))
            : after > before ? tr("The scale grows from %1 to %2.").arg(formatScale(before), formatScale(after))
                             : tr("The scale stays at %1; finite steps counted so far: %2.")
                                   .arg(formatScale(after), formatCount(m_walk.record.growthTracker));
        return page;
    }

    [[nodiscard]] WalkPage schedulePage() const
    {
        WalkPage page {.title = blockLabel(StepBlock::Schedule)};
        page.sentence = m_walk.lrAfter == m_walk.record.lr
            ? tr("The rate stays at %1.").arg(formatValue(m_walk.lrAfter))
            : tr("The rate goes from %1 to %2.").arg(formatValue(m_walk.record.lr), formatValue(m_walk.lrAfter));
        return page;
    }

    const StepWalk& m_walk;
    const LaneConfig& m_config;
    bool m_hasScaler;
    std::vector<WalkPage> m_pages;
};

} // namespace

std::vector<WalkPage> walkPages(const StepWalk& walk)
{
    return Pages(walk).write();
}

} // namespace mantissa
