// Sessions that train together, as processes under MPI do; here they are threads of one process.
#include "engine/core/error.h"
#include "engine/parallel/broadcast_text.h"
#include "engine/parallel/thread_communicator.h"
#include "engine/train/rank_lockstep.h"
#include "engine/train/session.h"

#include <QTemporaryDir>
#include <QtTest>

#include <atomic>
#include <functional>
#include <thread>

using namespace mantissa;

namespace {

/// Runs the same on every rank, each on a thread of its own.
void onRanks(int ranks, const std::function<void(std::shared_ptr<Communicator>)>& work)
{
    std::vector<std::jthread> threads;
    for (const auto& end : ThreadCommunicator::group(ranks)) {
        threads.emplace_back([end, &work] { work(end); });
    }
}

std::string textOfError(const std::function<void()>& work)
{
    try {
        work();
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

/// A rank's end that loses another rank at one of its calls.
class LosingCommunicator final : public Communicator
{
public:
    LosingCommunicator(std::shared_ptr<Communicator> own, std::shared_ptr<ThreadCommunicator> other)
        : m_own(std::move(own))
        , m_other(std::move(other))
    {
    }

    [[nodiscard]] int rank() const override { return m_own->rank(); }

    [[nodiscard]] int size() const override { return m_own->size(); }

    void allReduceSum(std::span<float> values, DType format) override { next().allReduceSum(values, format); }

    void allGather(std::span<const double> own, std::span<double> all) override { next().allGather(own, all); }

    void broadcast(std::span<std::byte> bytes, int root) override { next().broadcast(bytes, root); }

    void await(std::size_t bytes, const std::function<bool()>& isDone) override { next().await(bytes, isDone); }

    /// Behind so many more calls.
    void loseBehind(int calls) { m_left = calls; }

private:
    Communicator& next()
    {
        if (m_left-- == 0) {
            m_other->fail("its power was cut");
        }
        return *m_own;
    }

    std::shared_ptr<Communicator> m_own;
    std::shared_ptr<ThreadCommunicator> m_other;
    std::atomic<int> m_left = -1;
};

Experiment experiment(const std::string& steps, const std::string& extra = {})
{
    return parseExperiment(R"({"mantissa": 1, "name": "together", "seed": 3, "steps": )" + steps + R"(,
        "data": {"kind": "spirals", "samples": 80, "batch": 16}, "model": {"hidden": [8]},
        "optimizer": {"kind": "adamw", "lr": 0.01}, "precision": {"policy": "fp16"}, "scaler": {"growth_interval": 3},
        "parallel": {"ranks": 2}, )"
            + extra + R"(
        "lanes": [{"name": "A"}, {"name": "B", "parallel": {"communication": "fp16"}}]})",
        "together.json");
}

SessionOptions overRanks(std::shared_ptr<Communicator> ranks, const std::string& folder = {})
{
    SessionOptions options;
    options.ranks = std::move(ranks);
    options.checkpoints.folder = folder;
    return options;
}

std::shared_ptr<const SessionStatus> trainToEnd(Session& session)
{
    session.waitUntilIdle();
    session.run();
    session.waitUntilIdle();
    return session.status();
}

} // namespace

class TestRankLockstep : public QObject
{
    Q_OBJECT

private slots:

    void broadcastsTexts()
    {
        onRanks(3, [](const std::shared_ptr<Communicator>& ranks) {
            const std::string own = "text of " + std::to_string(ranks->rank());
            QCOMPARE(broadcastText(*ranks, own, 2), std::string("text of 2"));
            QCOMPARE(broadcastText(*ranks, ranks->rank() == 0 ? std::string() : own, 0), std::string());
        });
    }

    void agreesOnTheSame()
    {
        onRanks(3, [](const std::shared_ptr<Communicator>& ranks) {
            RankLockstep lockstep(ranks);
            lockstep.agree({}, {{"the data", 0xFEDCBA9876543210ULL}, {"the weights", 7}});
        });
    }

    void namesWhoDiffersInWhat()
    {
        onRanks(3, [](const std::shared_ptr<Communicator>& ranks) {
            RankLockstep lockstep(ranks);
            // In the last bit, which a double would not hold.
            const std::uint64_t hash = 0xFEDCBA9876543210ULL + (ranks->rank() == 2 ? 1 : 0);
            const std::string text = textOfError([&] {
                lockstep.agree({}, {{"the data", 1}, {"the weights of A", hash}});
            });
            QVERIFY2(
                text.find("rank 2 does not agree with rank 0 in the weights of A") != std::string::npos, text.c_str());
        });
    }

    void failsOnAllRanksIfOneCannot()
    {
        onRanks(3, [](const std::shared_ptr<Communicator>& ranks) {
            RankLockstep lockstep(ranks);
            const bool fails = ranks->rank() == 1;
            const std::string text = textOfError([&] {
                lockstep.agree(fails ? "no such file" : "",
                    fails ? std::vector<RankLockstep::Mark> {} : std::vector<RankLockstep::Mark> {{"x", 1}});
            });
            QCOMPARE(text, std::string("rank 1: no such file"));
        });
    }

    void takesRankZerosWord()
    {
        onRanks(2, [](const std::shared_ptr<Communicator>& ranks) {
            RankLockstep lockstep(ranks);
            RankLockstep::Word own;
            if (lockstep.leads()) {
                own = {.stops = true, .keepsStates = true, .changes = {{0, "optimizer.lr", 0.5}}};
            }
            const RankLockstep::Word word = lockstep.next(own);
            QVERIFY(word.stops && word.keepsStates);
            QCOMPARE(word.changes.at(0).at(1), "optimizer.lr");
            QVERIFY(!lockstep.next({.stops = !lockstep.leads()}).stops);
        });
    }

    void trainsAsOneProcess()
    {
        Session alone(experiment("20"), {});
        const auto expected = trainToEnd(alone);
        onRanks(2, [&](const std::shared_ptr<Communicator>& ranks) {
            Session session(experiment("20"), overRanks(ranks));
            const auto status = trainToEnd(session);
            QCOMPARE(status->state, SessionState::Finished);
            for (std::size_t lane = 0; lane < 2; ++lane) {
                QVERIFY(status->lanes[lane].summary->weightsHash == expected->lanes[lane].summary->weightsHash);
            }
        });
    }

    void stopsAtTheSameStepAndSaves()
    {
        const QTemporaryDir folder;
        std::array<std::int64_t, 2> steps {};
        std::array<RunStatus, 2> statuses {};
        onRanks(2, [&](const std::shared_ptr<Communicator>& ranks) {
            SessionOptions options = overRanks(ranks);
            if (ranks->rank() == 0) {
                options.checkpoints = {.folder = folder.path().toStdString(), .everySteps = 7};
            }
            Session session(experiment("100000000"), options);
            session.waitUntilIdle();
            session.run();
            if (ranks->rank() == 0) {
                while (session.status()->step < 40) {
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                }
                session.stop();
            }
            session.waitUntilIdle();
            const auto at = static_cast<std::size_t>(ranks->rank());
            steps[at] = session.status()->lanes[0].nextStep;
            statuses[at] = session.status()->lanes[0].status;
        });
        QCOMPARE(steps[1], steps[0]);
        QVERIFY(steps[0] >= 40);
        QCOMPARE(statuses[0], RunStatus::Stopped);
        QCOMPARE(statuses[1], RunStatus::Stopped);
        for (const char* lane : {"A", "B"}) {
            const auto file = checkpointFile(folder.path().toStdString(), lane, steps[0]);
            const Checkpoint checkpoint = readCheckpoint(file);
            QCOMPARE(checkpoint.state.nextStep, steps[0]);
            QCOMPARE(checkpoint.state.others.size(), std::size_t {1});
        }
    }

    /// At whichever exchange: of a step, of rank 0's word, or of the states that are kept.
    void lanesEndWhereverARankIsLost()
    {
        constexpr int exchanges = 60; // the first states and two steps
        for (int lostAt = 0; lostAt < exchanges; ++lostAt) {
            const QTemporaryDir folder;
            const auto ends = ThreadCommunicator::group(2);
            const auto losing = std::make_shared<LosingCommunicator>(ends[0], ends[1]);
            std::shared_ptr<const SessionStatus> left;
            {
                std::jthread other([&] {
                    Session session(experiment("100000000"), overRanks(ends[1]));
                    trainToEnd(session);
                });
                Session session(experiment("100000000"), overRanks(losing, folder.path().toStdString()));
                session.waitUntilIdle();
                losing->loseBehind(lostAt);
                left = trainToEnd(session);
            }
            QVERIFY2(left->state != SessionState::Failed, qPrintable(QString::number(lostAt)));
            for (const LaneStatus& lane : left->lanes) {
                QCOMPARE(lane.status, RunStatus::Failed);
                QVERIFY2(lane.message.find("its power was cut") != std::string::npos, lane.message.c_str());
                QVERIFY(lane.summary.has_value());
            }
        }
    }

    /// A rank that fails in mid-step: the other one's lanes fail too, and what it kept can be resumed.
    void savesWhatItKeptWhenARankIsLost()
    {
        const QTemporaryDir folder;
        auto ends = ThreadCommunicator::group(2);
        std::shared_ptr<const SessionStatus> left;
        {
            std::jthread other([&] {
                Session session(experiment("100000000"), overRanks(ends[1]));
                session.waitUntilIdle();
                session.run();
                while (session.status()->step < 30) {
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                }
                ends[1]->fail("its power was cut");
                session.waitUntilIdle();
            });
            Session session(experiment("100000000"), overRanks(ends[0], folder.path().toStdString()));
            left = trainToEnd(session);
        }
        for (const LaneStatus& lane : left->lanes) {
            QCOMPARE(lane.status, RunStatus::Failed);
            QVERIFY2(lane.message.find("its power was cut") != std::string::npos, lane.message.c_str());
            std::filesystem::path newest;
            for (const auto& file : std::filesystem::recursive_directory_iterator(folder.path().toStdString())) {
                if (file.path().parent_path().filename() == lane.config->name) {
                    newest = std::max(newest, file.path());
                }
            }
            QVERIFY(!newest.empty());
            auto checkpoint = std::make_shared<const Checkpoint>(readCheckpoint(newest));
            Experiment rest = experiment("100000000");
            std::erase_if(rest.lanes, [&](const LaneConfig& config) { return config.name != lane.config->name; });
            SessionOptions options;
            options.resumed = {{checkpoint, newest}};
            Session resumed(rest, options);
            resumed.waitUntilIdle();
            QCOMPARE(resumed.status()->state, SessionState::Ready);
            resumed.runSteps(3);
            resumed.waitUntilIdle();
            QCOMPARE(resumed.status()->lanes[0].nextStep, checkpoint->state.nextStep + 3);
        }
    }
};

QTEST_GUILESS_MAIN(TestRankLockstep)
#include "tst_rank_lockstep.moc"
