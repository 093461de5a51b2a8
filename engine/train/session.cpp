#include "engine/train/session.h"

#include "engine/train/session_worker.h"

#include <utility>

namespace mantissa {

Session::Session(Experiment experiment, SessionOptions options)
    : m_worker(std::make_unique<Worker>(std::move(experiment), std::move(options)))
{
}

Session::~Session() = default;

std::uint64_t Session::run()
{
    return m_worker->post([](Worker& worker) { worker.run(std::nullopt); });
}

std::uint64_t Session::runSteps(std::int64_t steps)
{
    return m_worker->post([steps](Worker& worker) { worker.run(steps); });
}

std::uint64_t Session::pause()
{
    return m_worker->post([](Worker& worker) { worker.pause(); });
}

std::uint64_t Session::stop()
{
    return m_worker->post([](Worker& worker) { worker.stop(); }, Worker::Urgency::CutsValidationsShort);
}

std::uint64_t Session::reset()
{
    return m_worker->post([](Worker& worker) { worker.reset(); }, Worker::Urgency::CutsValidationsShort);
}

std::uint64_t Session::setSpeedLimit(double stepsPerSecond)
{
    return m_worker->post([stepsPerSecond](Worker& worker) { worker.setSpeedLimit(stepsPerSecond); });
}

std::uint64_t Session::set(std::uint32_t lane, const std::string& path, const nlohmann::json& value)
{
    return m_worker->post([lane, path, value](Worker& worker) { worker.lanes().set(lane, path, value); });
}

std::uint64_t Session::addLane(const LaneConfig& config)
{
    return m_worker->post([config](Worker& worker) { worker.lanes().add(config); });
}

std::uint64_t Session::duplicateLane(std::uint32_t lane, const std::string& name, std::optional<std::int64_t> step,
    const std::vector<std::pair<std::string, nlohmann::json>>& changes)
{
    return m_worker->post(
        [lane, name, step, changes](Worker& worker) { worker.lanes().duplicate(lane, name, step, changes); });
}

std::uint64_t Session::setWatchpoints(const std::vector<Watchpoint>& watchpoints)
{
    return m_worker->post([watchpoints](Worker& worker) { worker.lanes().setWatchpoints(watchpoints); });
}

std::future<StepWalk> Session::walkStep(std::uint32_t lane)
{
    return m_worker->ask<StepWalk>([lane](LaneGroup& lanes) { return lanes.walk(lane); });
}

std::future<std::vector<ScaleTrial>> Session::tryScales(std::uint32_t lane, std::vector<double> scales)
{
    return m_worker->ask<std::vector<ScaleTrial>>(
        [lane, scales = std::move(scales)](LaneGroup& lanes) { return lanes.tryScales(lane, scales); });
}

std::future<Blame> Session::blame(std::uint32_t lane, std::int64_t step)
{
    return m_worker->ask<Blame>([lane, step](LaneGroup& lanes) { return lanes.blame(lane, step); });
}

std::uint64_t Session::setSampling(const SamplingPlan& plan)
{
    return m_worker->post([plan](Worker& worker) { worker.lanes().setSampling(plan); });
}

std::uint64_t Session::sampleNext()
{
    return m_worker->post([](Worker& worker) { worker.lanes().sampleNext(); });
}

std::size_t Session::takeSamples(std::vector<std::shared_ptr<const StepSample>>& into)
{
    return m_worker->takeSamples(into);
}

std::uint64_t Session::removeLane(std::uint32_t lane)
{
    return m_worker->post([lane](Worker& worker) { worker.lanes().remove(lane); });
}

std::uint64_t Session::setBaseline(std::uint32_t lane)
{
    return m_worker->post([lane](Worker& worker) { worker.lanes().setBaseline(lane); });
}

std::uint64_t Session::extend(std::int64_t totalSteps)
{
    return m_worker->post([totalSteps](Worker& worker) { worker.extend(totalSteps); });
}

std::uint64_t Session::saveCheckpoint(std::uint32_t lane, const std::filesystem::path& file)
{
    return m_worker->post([lane, file](Worker& worker) { worker.lanes().saveTo(lane, file); });
}

std::size_t Session::takeRecords(std::vector<StepRecord>& into)
{
    return m_worker->records().takeAll(into);
}

std::size_t Session::takeRankRecords(std::vector<RankRecord>& into)
{
    return m_worker->rankRecords().takeAll(into);
}

std::uint64_t Session::droppedRecords() const
{
    return m_worker->records().dropped();
}

std::size_t Session::takeEvents(std::vector<Event>& into)
{
    return m_worker->takeEvents(into);
}

std::shared_ptr<const SessionStatus> Session::status() const
{
    return m_worker->status();
}

void Session::waitUntilIdle()
{
    m_worker->waitUntilIdle();
}

} // namespace mantissa
