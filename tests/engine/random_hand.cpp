#include "random_hand.h"

#include <QtGlobal>

#include <array>
#include <cmath>

namespace mantissa::tests {

namespace {

// Each copy, late lane and restart is a run of its own, and every run is trained a second time.
constexpr int mostNewLanes = 3;
constexpr int mostResets = 1;
constexpr std::size_t originalLanes = 3;

/// A loss that is finite and said not to be, or the other way round. A micro-batch that the guard drops was not finite.
bool isOdd(const StepRecord& record)
{
    return record.lossFinite != (std::isfinite(record.loss) && record.droppedMicroBatches == 0);
}

} // namespace

RandomHand::RandomHand(Session& session, std::uint64_t seed)
    : m_session(session)
    , m_random(seed)
{
}

std::pair<std::string, nlohmann::json> RandomHand::randomKnob()
{
    const auto oneOf = [this](const auto& choices) {
        return choices[static_cast<std::size_t>(pick(static_cast<int>(choices.size())))];
    };
    switch (pick(26)) {
    case 0:
        return {"optimizer.lr", std::ldexp(1.0, -5 - pick(8))};
    case 1:
        return {"optimizer.weight_decay", 0.01 * pick(10)};
    case 2:
        return {"optimizer.beta1", 0.1 * pick(10)};
    case 3:
        return {"scaler.scale", std::ldexp(1.0, pick(30))};
    case 4:
        return {"scaler.growth_tracker", pick(5)};
    case 5:
        return {"scaler.frozen", pick(2) == 1};
    case 6:
        return {"scaler", {{"family", "pytorch"}, {"growth_interval", 1 + pick(9)}}};
    case 7:
        return {"scaler", nullptr};
    case 8:
        return {"precision.policy", oneOf(std::array {"fp32", "fp16", "bf16"})};
    case 9:
        return {"precision.overrides.relu", oneOf(std::array<nlohmann::json, 3> {"fp32", "fp16", nullptr})};
    case 10:
        return {"clip", {{"order", oneOf(std::array {"clip-then-unscale", "unscale-then-clip"})}, {"max_norm", 0.5}}};
    case 11:
        return {"clip", nullptr};
    case 12:
        return {"accumulation.steps", 1 + pick(3)};
    case 13:
        return {"accumulation.guard", pick(2) == 1};
    case 15:
        return {"order", randomOrder()};
    case 16:
        return {"order", nullptr};
    case 17:
        return {"optimizer.extra_step", pick(4) == 0};
    case 18:
        return {"optimizer.state_format", oneOf(std::array {"weights", "fp32", "bf16"})};
    case 19:
        return {"accumulation", {{"divide", pick(2) == 1}, {"scaler_per_micro_batch", pick(3) == 0}}};
    case 20:
        return {"accumulation.zero_gradients", pick(3) != 0};
    case 21:
        return {"precision",
            {{"policy", "bf16"}, {"weights", oneOf(std::array {"master", "half-kahan", "half-stochastic"})}}};
    case 22:
        return {"ema", {{"decay", 0.25 * pick(4)}, {"format", oneOf(std::array {"fp32", "bf16"})}}};
    case 23:
        return {"fault.loss_spike", std::ldexp(1.0, pick(4))};
    case 24:
        return {"fault.lr_jump", 0.5 * (1 + pick(4))};
    case 14:
        return {"schedule", {{"kind", oneOf(std::array {"constant", "cosine"})}, {"warmup_steps", pick(20)}}};
    default:
        return {"schedule.count_skipped", pick(2) == 1};
    }
}

nlohmann::json RandomHand::randomOrder()
{
    std::vector<std::string> blocks = namesOf(rightOrder);
    for (std::size_t i = blocks.size(); i > 1; --i) {
        std::swap(blocks[i - 1], blocks[static_cast<std::size_t>(pick(static_cast<int>(i)))]);
    }
    return blocks;
}

void RandomHand::turnKnob(const SessionStatus& status)
{
    if (!status.lanes.empty()) {
        const LaneStatus& lane = status.lanes[static_cast<std::size_t>(pick(static_cast<int>(status.lanes.size())))];
        const auto [path, value] = randomKnob();
        m_lastCommand = m_session.set(lane.id, path, value);
    }
}

void RandomHand::changeLanes(const SessionStatus& status)
{
    if (status.lanes.size() < originalLanes) {
        return;
    }
    const LaneStatus& last = status.lanes.back();
    if (status.lanes.size() > originalLanes && pick(2) == 0) {
        m_lastCommand = m_session.removeLane(last.id);
    } else if (m_newLanes < mostNewLanes) {
        const std::string name = "new " + std::to_string(++m_newLanes);
        const LaneStatus& model = status.lanes[static_cast<std::size_t>(pick(3))];
        if (pick(3) == 0) {
            LaneConfig late = *model.config;
            late.name = name;
            late.document["name"] = name;
            m_lastCommand = m_session.addLane(late);
        } else {
            m_lastCommand = m_session.duplicateLane(model.id, name);
        }
    }
}

void RandomHand::act()
{
    const auto status = m_session.status();
    switch (pick(40)) {
    case 0:
        m_session.pause();
        m_lastCommand = m_session.runSteps(1 + pick(5));
        break;
    case 1:
        m_lastCommand = m_session.setSpeedLimit(pick(2) == 0 ? 2000 : 0);
        break;
    case 2:
        m_lastCommand = m_session.extend(status->totalSteps + pick(20));
        break;
    case 3:
        if (!status->lanes.empty()) {
            m_lastCommand = m_session.setBaseline(status->lanes[0].id);
        }
        break;
    case 4:
    case 5:
        changeLanes(*status);
        break;
    case 6:
        if (m_resets < mostResets && status->step > 100) {
            ++m_resets;
            m_lastCommand = m_session.reset();
        }
        break;
    default:
        for (int i = pick(3); i >= 0; --i) {
            turnKnob(*status);
        }
    }
    m_lastCommand = m_session.run();
}

void RandomHand::finish(bool isStopped)
{
    m_session.setSpeedLimit(0);
    m_lastCommand = isStopped ? m_session.stop() : m_session.run();
}

bool RandomHand::lookAtRecords()
{
    m_records.clear();
    m_session.takeRecords(m_records);
    for (const StepRecord& record : m_records) {
        const auto at = m_nextRecord.try_emplace({record.generation, record.lane}, record.step).first;
        if (record.step != at->second || isOdd(record) || !(record.scale >= 0)) {
            qWarning("lane %u: step %lld follows where %lld was due, loss %g (finite: %d), scale %g", record.lane,
                static_cast<long long>(record.step), static_cast<long long>(at->second), record.loss, record.lossFinite,
                record.scale);
            return false;
        }
        ++at->second;
    }
    if (m_session.droppedRecords() != 0) {
        qWarning("records were dropped");
        return false;
    }
    return true;
}

bool RandomHand::lookAtLane(std::uint32_t generation, const LaneStatus& lane)
{
    std::int64_t& next = m_nextStep[{generation, lane.id}];
    const bool isGood = lane.config && lane.nextStep >= next && lane.status != RunStatus::Failed
        && lane.summary.has_value() == (lane.status != RunStatus::Running);
    if (!isGood) {
        qWarning("lane %u: %s at step %lld after %lld: %s", lane.id, nameOf(lane.status).data(),
            static_cast<long long>(lane.nextStep), static_cast<long long>(next), lane.message.c_str());
    }
    next = lane.nextStep;
    return isGood;
}

bool RandomHand::look()
{
    if (!lookAtRecords()) {
        return false;
    }
    m_events.clear();
    m_session.takeEvents(m_events);
    const auto status = m_session.status();
    if (status->state == SessionState::Failed || status->appliedCommands < m_lastApplied
        || status->appliedCommands > m_lastCommand) {
        qWarning("%llu commands applied, %llu before, %llu given: %s",
            static_cast<unsigned long long>(status->appliedCommands), static_cast<unsigned long long>(m_lastApplied),
            static_cast<unsigned long long>(m_lastCommand), status->message.c_str());
        return false;
    }
    m_lastApplied = status->appliedCommands;
    for (const LaneStatus& lane : status->lanes) {
        if (!lookAtLane(status->generation, lane)) {
            return false;
        }
    }
    return true;
}

} // namespace mantissa::tests
