/// The session's thread: takes commands at step boundaries, trains, publishes.
#pragma once

#include "engine/train/lane_group.h"
#include "engine/train/record_ring.h"
#include "engine/train/session.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace mantissa {

class Session::Worker
{
public:
    /// Runs on the worker thread, with the lanes; may throw Error, which refuses the command.
    using Command = std::function<void(Worker&)>;

    Worker(Experiment experiment, SessionOptions options);
    ~Worker();

    // --- the controlling thread ---
    enum class Urgency : bool { AtNextStep, CutsValidationsShort };
    std::uint64_t post(Command command, Urgency urgency = Urgency::AtNextStep);

    /// What the lanes answer at the next step boundary, or throw.
    template <typename Answer> std::future<Answer> ask(std::function<Answer(LaneGroup&)> question)
    {
        // std::function wants what can be copied.
        auto promise = std::make_shared<std::promise<Answer>>();
        std::future<Answer> future = promise->get_future();
        post([promise, question = std::move(question)](Worker& worker) {
            try {
                promise->set_value(question(worker.lanes()));
            } catch (...) {
                promise->set_exception(std::current_exception());
            }
        });
        return future;
    }

    RecordRing<StepRecord>& records() { return m_records; }

    RecordRing<RankRecord>& rankRecords() { return m_rankRecords; }

    std::size_t takeEvents(std::vector<Event>& into);
    std::size_t takeSamples(std::vector<std::shared_ptr<const StepSample>>& into);
    [[nodiscard]] std::shared_ptr<const SessionStatus> status() const;
    void waitUntilIdle();

    // --- commands, on the worker thread ---
    [[nodiscard]] LaneGroup& lanes() { return *m_lanes; }

    void run(std::optional<std::int64_t> steps);
    void pause();
    void stop();
    void reset();
    void extend(std::int64_t totalSteps);
    void setSpeedLimit(double stepsPerSecond);

private:
    struct Posted
    {
        std::uint64_t id;
        Command command;
    };

    void work(Experiment experiment);
    bool prepare(Experiment experiment);
    void fail(ErrorCode code, const std::string& message);
    void loop();
    void applyCommands();
    void trainOneStep();
    void settle();
    void note(Event event);
    void keep(std::shared_ptr<const StepSample> sample);
    void publish();
    void publishIfDue();
    void waitForCommand(std::optional<double> seconds);

    SessionOptions m_options;
    std::unique_ptr<LaneGroup> m_lanes; ///< worker thread only
    SessionState m_state = SessionState::Preparing;
    std::string m_message;
    ErrorCode m_error = ErrorCode::Internal;
    std::optional<std::int64_t> m_pauseAt;
    double m_speedLimit = 0;
    double m_nextStepAt = 0; ///< with a speed limit
    double m_lastPublished = 0;
    double m_rateSince = 0; ///< the steps/s figure counts from here
    std::int64_t m_rateSteps = 0;
    double m_rate = 0;
    std::uint64_t m_currentCommand = 0;
    std::uint64_t m_applied = 0;

    RecordRing<StepRecord> m_records;
    RecordRing<RankRecord> m_rankRecords;
    mutable std::mutex m_mutex; ///< guards what follows; never held while training
    std::condition_variable m_wake;
    std::condition_variable m_changed;
    std::vector<Posted> m_queue;
    std::vector<Event> m_events;
    std::deque<std::shared_ptr<const StepSample>> m_samples;
    std::shared_ptr<const SessionStatus> m_status;
    std::uint64_t m_lastPosted = 0;
    std::atomic<bool> m_hasCommands {false};
    std::atomic<bool> m_quit {false};
    std::atomic<bool> m_interrupt {false}; ///< set while an urgent command waits
    std::jthread m_thread; ///< last, so that it starts when all else is there
};

} // namespace mantissa
