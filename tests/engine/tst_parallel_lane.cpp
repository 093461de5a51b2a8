// Data-parallel lanes: what one process computes with the whole batch, and what goes wrong between ranks.
#include "engine/backends/backend_registry.h"
#include "engine/core/error.h"
#include "engine/parallel/thread_communicator.h"
#include "engine/scaling/scaler_family.h"
#include "engine/train/checkpoint.h"
#include "engine/train/lane.h"

#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <thread>

using namespace mantissa;
using nlohmann::json;

namespace {

constexpr double unit = 0x1p-24; // half an ulp of 1 in FP32

std::shared_ptr<const Dataset> digits()
{
    static const auto data = std::make_shared<const Dataset>(loadDataset(DataConfig {}, 1, {}));
    return data;
}

LaneConfig configWith(const json& settings)
{
    json document = json::parse(R"({"name": "A", "data": {"kind": "digits", "batch": 32}, "steps": 1000,
        "model": {"kind": "mlp", "hidden": [16]}, "optimizer": {"kind": "sgd", "lr": 0.1}})");
    document.merge_patch(settings);
    return parseLane(document, "");
}

std::unique_ptr<Lane> makeLane(const json& settings, std::vector<ScriptedEvent> events = {})
{
    return std::make_unique<Lane>(0, configWith(settings), std::move(events), digits(), backendByName("cpu"), 1);
}

json withRanks(int ranks, json more = json::object())
{
    more["parallel"]["ranks"] = ranks;
    return more;
}

/// The gradients as the optimizer gets them, from one step of the lane, side by side.
std::vector<float> gradientsOfStep(Lane& lane)
{
    std::vector<float> all;
    lane.step([&](StepStage stage) {
        if (stage == StepStage::Backward) {
            for (const ValueId id : lane.stepGraph().gradients) {
                const std::vector<float> values = lane.executor().readFloats(id);
                all.insert(all.end(), values.begin(), values.end());
            }
        }
    });
    return all;
}

bool sameTensors(const std::vector<StateTensor>& a, const std::vector<StateTensor>& b)
{
    return std::ranges::equal(
        a, b, [](const StateTensor& x, const StateTensor& y) { return x.name == y.name && x.bytes == y.bytes; });
}

bool sameState(const LaneState& a, const LaneState& b)
{
    return a.nextStep == b.nextStep && a.schedulePosition == b.schedulePosition && a.foundInf == b.foundInf
        && a.batchHash == b.batchHash && a.scaler == b.scaler && sameTensors(a.tensors, b.tensors)
        && std::ranges::equal(a.others, b.others, [](const RankState& x, const RankState& y) {
               return x.schedulePosition == y.schedulePosition && x.foundInf == y.foundInf && x.scaler == y.scaler
                   && sameTensors(x.tensors, y.tensors);
           });
}

void train(Lane& lane, int steps)
{
    for (int i = 0; i < steps; ++i) {
        lane.applyScripted();
        lane.step();
    }
}

std::vector<double> scalesOf(const Lane& lane)
{
    std::vector<double> scales;
    for (const RankRecord& record : lane.rankRecords()) {
        scales.push_back(record.scale);
    }
    return scales;
}

/// Settings under which ranks come to differ in all that they can differ in.
json driftingSettings()
{
    return json::parse(R"({"precision": {"policy": "fp16"}, "scaler": {"growth_interval": 3, "init_scale": 1e7},
        "optimizer": {"kind": "adam", "lr": 0.01}, "schedule": {"kind": "cosine", "count_skipped": false},
        "model": {"kind": "layers", "layers": ["flatten", {"kind": "linear", "features": 12}, "batch_norm", "relu",
            {"kind": "dropout", "p": 0.2}, {"kind": "linear"}]},
        "parallel": {"ranks": 3, "shards": [10, 14, 8], "gradients": "local"}})");
}

} // namespace

class TestParallelLane : public QObject
{
    Q_OBJECT

private slots:

    /// Every step from equal weights: the mean of the ranks' gradients is that of the whole batch but for the rounding
    /// of sums. Of an element that sums B terms (and some more on the way through the layers) that is at most so many
    /// roundings of the sum of the terms' magnitudes, which a lane with one sample at a time tells.
    void ranksComputeWhatOneProcessDoes_data()
    {
        QTest::addColumn<int>("ranks");
        QTest::addColumn<QString>("more");
        QTest::newRow("2") << 2 << "{}";
        QTest::newRow("4") << 4 << "{}";
        QTest::newRow("4, divided after") << 4 << R"({"parallel": {"divide": "after"}})";
        QTest::newRow("8, scaled") << 8 << R"({"scaler": {"family": "fixed", "init_scale": 1024}})";
        QTest::newRow("4, dropout") << 4 << R"({"model": {"dropout": 0.3, "hidden": [15]}})";
        QTest::newRow("4, Adam") << 4 << R"({"optimizer": {"kind": "adam", "lr": 0.01}})";
    }

    void ranksComputeWhatOneProcessDoes()
    {
        QFETCH(int, ranks);
        QFETCH(QString, more);
        const json settings = json::parse(more.toStdString());
        const auto parallel = makeLane(withRanks(ranks, settings));
        const auto whole = makeLane(settings);
        QCOMPARE(parallel->weightsHash(), whole->weightsHash());
        const auto batch = whole->config()->data.batch;
        const bool hasDropout = settings.value("/model/dropout"_json_pointer, 0.0) > 0;
        json bySample = settings;
        bySample["data"]["batch"] = 1;
        const auto single = makeLane(bySample);
        const double scale = whole->scale();
        for (int step = 0; step < 6; ++step) {
            std::vector<double> magnitudes;
            for (std::int64_t i = 0; i < batch && !hasDropout; ++i) {
                LaneState state = whole->state();
                state.config = *single->config();
                state.nextStep = step * batch + i;
                state.history.clear();
                single->restore(state);
                const std::vector<float> one = gradientsOfStep(*single);
                magnitudes.resize(one.size());
                for (std::size_t j = 0; j < one.size(); ++j) {
                    magnitudes[j] += std::abs(one[j]) / static_cast<double>(batch);
                }
            }
            const std::vector<float> mean = gradientsOfStep(*parallel);
            const std::vector<float> expected = gradientsOfStep(*whole);
            QCOMPARE(mean.size(), expected.size());
            const double largest = *std::ranges::max_element(expected);
            // Sums over the batch, the ranks, and the features that errors come through: 64, 16 and 10 wide.
            const double roundings = 2.0 * static_cast<double>(batch + ranks + 64 + 16 + 10);
            for (std::size_t j = 0; j < mean.size(); ++j) {
                const double terms = hasDropout ? largest : magnitudes[j] + 0.01 * largest;
                const double difference = std::abs(double {mean[j]} - expected[j]);
                QVERIFY2(difference <= roundings * unit * terms,
                    qPrintable(QString("step %1, element %2: %3 and %4")
                                   .arg(step)
                                   .arg(j)
                                   .arg(static_cast<double>(mean[j]) / scale)
                                   .arg(static_cast<double>(expected[j]) / scale)));
            }
            whole->follow(*parallel);
        }
    }

    void recordsAreThoseOfTheWholeBatch()
    {
        const auto parallel = makeLane(withRanks(4));
        const auto whole = makeLane(json::object());
        for (int step = 0; step < 30; ++step) {
            const StepRecord a = parallel->step();
            const StepRecord b = whole->step();
            QVERIFY(std::abs(a.loss - b.loss) < 1e-4);
            QVERIFY(std::abs(a.gradNorm - b.gradNorm) < 1e-3 * b.gradNorm);
            QCOMPARE(a.batchHash, b.batchHash);
            QCOMPARE(parallel->rankRecords().size(), std::size_t {4});
            double loss = 0;
            for (const RankRecord& record : parallel->rankRecords()) {
                loss += record.loss / 4;
                QCOMPARE(record.step, a.step);
                QCOMPARE(record.scale, 1.0);
                QVERIFY(record.gradNorm > 0);
                QCOMPARE(record.flushed, 0.0);
                if (step % 10 == 0) {
                    QCOMPARE(record.distance, 0.0);
                } else {
                    QVERIFY(std::isnan(record.distance));
                }
            }
            QVERIFY(std::abs(loss - a.loss) < 1e-12);
        }
        QVERIFY(whole->rankRecords().empty());
        QVERIFY(parallel->bytes().weights == 4 * whole->bytes().weights);
    }

    void repeatsToTheLastBitWhateverTheTiming()
    {
        json settings = withRanks(
            4, json::parse(R"({"precision": {"policy": "fp16"}, "scaler": {"init_scale": 1e6, "growth_interval": 2},
                "parallel": {"communication": "fp16", "batch_norm": "synchronised"},
                "model": {"kind": "layers", "layers": ["flatten", {"kind": "linear", "features": 12}, "batch_norm",
                    "relu", {"kind": "dropout", "p": 0.2}, {"kind": "linear"}]}})"));
        const auto first = makeLane(settings);
        const auto second = makeLane(settings);
        for (int step = 0; step < 20; ++step) {
            const StepRecord a = first->step();
            const StepRecord b = second->step([step](StepStage stage) {
                if ((static_cast<int>(stage) + step) % 3 == 0) {
                    std::this_thread::sleep_for(std::chrono::microseconds(500));
                }
            });
            QCOMPARE(a.loss, b.loss);
            QCOMPARE(a.gradNorm, b.gradNorm);
        }
        QVERIFY(sameState(first->state(), second->state()));
    }

    /// Each rank by itself, on an end that it was given, as processes do it.
    void givenEndsDoTheSame()
    {
        const LaneConfig config = configWith(driftingSettings());
        const auto owner = makeLane(driftingSettings());
        train(*owner, 12);
        const LaneState expected = owner->state();
        const auto ends = ThreadCommunicator::group(3);
        std::vector<LaneState> states(3);
        {
            std::vector<std::jthread> threads;
            for (std::size_t rank = 0; rank < 3; ++rank) {
                threads.emplace_back([&, rank] {
                    Lane lane(0, config, {}, digits(), backendByName("cpu"), 1, ends[rank]);
                    train(lane, 5);
                    const auto copy = lane.fork(1, "B"); // collective
                    train(*copy, 2);
                    const LaneState middle = lane.state();
                    train(lane, 3);
                    lane.restore(middle);
                    train(lane, 7);
                    states[rank] = lane.state();
                });
            }
        }
        for (const LaneState& state : states) {
            QVERIFY(sameState(state, expected));
        }
    }

    void anInfinityOnOneRankReachesAll()
    {
        for (const char* const scaler : {"independent", "synchronised"}) {
            json settings = withRanks(4, {{"scaler", {{"init_scale", 1024}}}});
            settings["parallel"]["scaler"] = scaler;
            const auto lane = makeLane(settings);
            train(*lane, 3);
            const std::string before = lane->weightsHash();
            lane->set("fault.at_rank", 2);
            lane->set("fault.gradient_inf", "fc1");
            const StepRecord record = lane->step();
            QVERIFY(record.skipped);
            QCOMPARE(lane->weightsHash(), before);
            for (const RankRecord& own : lane->rankRecords()) {
                QCOMPARE(std::isinf(own.gradNorm), own.rank == 2);
                QVERIFY(own.foundInf && own.skipped);
            }
            const std::optional<Event> origin = lane->takeOrigin();
            QVERIFY(origin && origin->text.find("ank 2") != std::string::npos);
            lane->step();
            QCOMPARE(scalesOf(*lane), std::vector<double>(4, 512));
            QVERIFY(!lane->takeOrigin());
        }
    }

    void withoutAveragingRanksDriftApart()
    {
        const auto lane = [](const char* scaler) {
            json settings = withRanks(2, {{"scaler", {{"init_scale", 1024}}}});
            settings["parallel"]["scaler"] = scaler;
            settings["parallel"]["gradients"] = "local";
            auto made = makeLane(settings);
            train(*made, 3);
            made->set("fault.at_rank", 1);
            made->set("fault.gradient_inf", "fc1");
            return made;
        };
        const auto independent = lane("independent");
        independent->step();
        QVERIFY(!independent->rankRecords()[0].skipped && independent->rankRecords()[1].skipped);
        train(*independent, 7);
        QCOMPARE(scalesOf(*independent), (std::vector<double> {1024, 512}));
        QVERIFY(independent->rankRecords()[1].distance > 0.001);
        QCOMPARE(independent->rankRecords()[0].distance, 0.0);

        const auto synchronised = lane("synchronised");
        synchronised->step();
        for (const RankRecord& own : synchronised->rankRecords()) {
            QVERIFY(own.skipped);
            QCOMPARE(own.foundInf, own.rank == 1);
        }
        synchronised->step();
        QCOMPARE(scalesOf(*synchronised), std::vector<double>(2, 512));
    }

    void faultsBefallTheRankThatIsNamed()
    {
        const auto normsAfter = [](const std::vector<std::pair<std::string, json>>& faults) {
            const auto lane = makeLane(withRanks(4));
            for (const auto& [path, value] : faults) {
                lane->set(path, value);
            }
            lane->step();
            std::vector<double> norms;
            for (const RankRecord& own : lane->rankRecords()) {
                norms.push_back(own.gradNorm);
            }
            return norms;
        };
        const std::vector<double> plain = normsAfter({});
        // Samples are counted over the whole batch: eight a rank.
        const std::vector<double> ten = normsAfter({{"fault.nan_sample", 10}});
        QVERIFY(std::isnan(ten[0]) && std::isnan(ten[1]) && ten[2] == plain[2] && ten[3] == plain[3]);
        const std::vector<double> third = normsAfter({{"fault.at_rank", 3}, {"fault.nan_sample", 1}});
        QVERIFY(third[0] == plain[0] && third[2] == plain[2] && std::isnan(third[3]));
        const std::vector<double> spike = normsAfter({{"fault.at_rank", 1}, {"fault.loss_spike", 8}});
        QVERIFY(spike[0] == plain[0] && spike[1] == 8 * plain[1] && spike[2] == plain[2]);
        const std::vector<double> all = normsAfter({{"fault.loss_spike", 8}});
        QVERIFY(all[0] == 8 * plain[0] && all[3] == 8 * plain[3]);
        const auto lane = makeLane(withRanks(4));
        QVERIFY_EXCEPTION_THROWN(lane->set("fault.at_rank", 4), Error);
        QVERIFY_EXCEPTION_THROWN(makeLane(json::object())->set("fault.at_rank", 1), Error);
    }

    void communicationRoundsAndOverflows()
    {
        // Gradients of about 1e-9 do not survive FP16; in FP32 and BF16 they do.
        const auto flushed = [](const char* format) {
            json settings = withRanks(4, {{"loss_weight", 1e-6}});
            settings["parallel"]["communication"] = format;
            const auto lane = makeLane(settings);
            lane->step();
            return lane->rankRecords()[1].flushed;
        };
        QCOMPARE(flushed("fp32"), 0.0);
        QCOMPARE(flushed("bf16"), 0.0);
        QVERIFY(flushed("fp16") > 0.5);
        // And large ones overflow in the sum, unless they were divided before.
        const auto found = [](const char* divide) {
            json settings = withRanks(4, {{"scaler", {{"family", "fixed"}, {"init_scale", 1 << 18}}}});
            settings["parallel"].update({{"communication", "fp16"}, {"divide", divide}});
            const auto lane = makeLane(settings);
            const bool finds = lane->step().foundInf;
            const std::optional<Event> origin = lane->takeOrigin();
            return finds && origin && origin->text.find("fp16") != std::string::npos;
        };
        QVERIFY(found("after"));
        QVERIFY(!found("before"));
    }

    void accumulatesWithAndWithoutExchange()
    {
        json settings = withRanks(2, {{"accumulation", {{"steps", 4}}}, {"data", {{"batch", 8}}}});
        const auto last = makeLane(settings);
        settings["parallel"]["every_micro_batch"] = true;
        const auto every = makeLane(settings);
        const auto whole = makeLane({{"data", {{"batch", 32}}}});
        for (int step = 0; step < 2; ++step) {
            const std::vector<float> a = gradientsOfStep(*last);
            const std::vector<float> b = gradientsOfStep(*every);
            const std::vector<float> c = gradientsOfStep(*whole);
            // The last micro-batch's look comes last.
            const std::size_t count = c.size();
            for (std::size_t i = 0; i < count; ++i) {
                const float x = a[a.size() - count + i];
                const float y = b[b.size() - count + i];
                QVERIFY(std::abs(x - c[i]) < 2e-5F && std::abs(y - c[i]) < 2e-5F);
            }
            whole->follow(*every);
        }
    }

    /// Statistics over all ranks are those of the whole batch, and so are the gradients that come through them.
    void synchronisedBatchNormIsThatOfTheWholeBatch_data()
    {
        QTest::addColumn<QString>("backend");
        QTest::newRow("cpu") << "cpu";
        QTest::newRow("reference") << "reference";
    }

    void synchronisedBatchNormIsThatOfTheWholeBatch()
    {
        QFETCH(QString, backend);
        const json settings = json::parse(R"({"model": {"kind": "layers", "layers": ["flatten",
            {"kind": "linear", "features": 12}, "batch_norm", "relu", {"kind": "linear"}]}})");
        const auto make = [&](const json& more) {
            json all = settings;
            all.merge_patch(more);
            return std::make_unique<Lane>(
                0, configWith(all), std::vector<ScriptedEvent> {}, digits(), backendByName(backend.toStdString()), 1);
        };
        const auto whole = make(json::object());
        const auto synchronised = make({{"parallel", {{"ranks", 4}, {"batch_norm", "synchronised"}}}});
        const auto local = make({{"parallel", {{"ranks", 4}}}});
        const auto uneven
            = make({{"parallel", {{"ranks", 3}, {"batch_norm", "synchronised"}, {"shards", {5, 20, 7}}}}});
        const auto buffersOf = [](Lane& lane) {
            std::vector<float> all;
            for (const ValueId id : lane.stepGraph().buffers) {
                const std::vector<float> values = lane.executor().readFloats(id);
                all.insert(all.end(), values.begin(), values.end());
            }
            return all;
        };
        const auto apart = [](const std::vector<float>& a, const std::vector<float>& b) {
            double most = 0;
            double largest = 0;
            for (std::size_t i = 0; i < a.size(); ++i) {
                most = std::max(most, std::abs(double {a[i]} - b[i]));
                largest = std::max(largest, std::abs(double {a[i]}));
            }
            return most / largest;
        };
        for (int step = 0; step < 4; ++step) {
            const std::vector<float> expected = gradientsOfStep(*whole);
            QVERIFY(apart(expected, gradientsOfStep(*synchronised)) < 200 * unit);
            QVERIFY(apart(expected, gradientsOfStep(*local)) > 1e-3);
            QVERIFY(apart(buffersOf(*whole), buffersOf(*synchronised)) < 8 * unit);
            if (step == 0) { // later its ranks have trained on means of means
                gradientsOfStep(*uneven);
                QVERIFY(apart(buffersOf(*whole), buffersOf(*uneven)) < 8 * unit);
            }
            QVERIFY(apart(buffersOf(*whole), buffersOf(*local)) > 1e-3);
            const LaneState state = synchronised->state(); // all running statistics are the same ones
            for (const RankState& other : state.others) {
                QVERIFY(other.tensors.empty());
            }
            whole->follow(*synchronised);
        }
    }

    /// With uneven shares the gradient is the mean of the ranks' means, in which samples of small shares count more.
    void unevenSharesAverageMeans()
    {
        json settings = withRanks(2);
        settings["parallel"]["shards"] = {28, 4};
        const auto uneven = makeLane(settings);
        const auto even = makeLane(withRanks(2));
        const StepRecord record = uneven->step();
        const auto ranks = uneven->rankRecords();
        QVERIFY(std::abs(record.loss - (ranks[0].loss + ranks[1].loss) / 2) < 1e-12);
        QVERIFY(std::abs(record.loss - even->step().loss) > 1e-4);
        QCOMPARE(uneven->batchHash(), even->batchHash());
    }

    void goesOnFromAStateToTheLastBit()
    {
        const json settings = driftingSettings();
        std::vector<ScriptedEvent> events {{4, "A", {{"fault.at_rank", 2}, {"fault.gradient_inf", "fc1"}}},
            {14, "A", {{"fault.at_rank", 1}, {"fault.nan_sample", 2}}}};
        const auto lane = makeLane(settings, events);
        train(*lane, 10);
        const LaneState middle = lane->state();
        QCOMPARE(middle.others.size(), std::size_t {2});
        QVERIFY(!middle.others[0].tensors.empty());
        QVERIFY(middle.others[0].scaler != middle.others[1].scaler || middle.scaler != middle.others[1].scaler
            || middle.others[1].schedulePosition != middle.schedulePosition);
        const auto fork = lane->fork(1, "B");
        train(*lane, 10);
        const LaneState end = lane->state();

        train(*fork, 10);
        QVERIFY(sameState(fork->state(), end));
        Lane resumed(2, middle, digits(), backendByName("cpu"), 1);
        train(resumed, 10);
        QVERIFY(sameState(resumed.state(), end));
        const auto back = lane->forkAt(13, middle, 3, "C");
        train(*back, 7);
        QVERIFY(sameState(back->state(), end));
        lane->restore(middle);
        train(*lane, 10);
        QVERIFY(sameState(lane->state(), end));

        const QTemporaryDir folder;
        const std::filesystem::path file = folder.filePath("a.safetensors").toStdString();
        const LaneConfig initial = configWith(settings);
        writeCheckpoint(file,
            {.experimentName = "e",
                .experimentText = {},
                .initial = initial,
                .state = middle,
                .weightsHash = "0",
                .instructionSet = "x"});
        const Checkpoint read = readCheckpoint(file);
        QVERIFY(sameState(read.state, middle));
        Lane fromFile(4, read.state, digits(), backendByName("cpu"), 1);
        train(fromFile, 10);
        QVERIFY(sameState(fromFile.state(), end));

        LaneState lacking = middle;
        lacking.others.pop_back();
        QVERIFY_EXCEPTION_THROWN(Lane(5, lacking, digits(), backendByName("cpu"), 1), Error);
    }

    void settingsChangeOnAllRanks()
    {
        const auto lane = makeLane(withRanks(2, {{"scaler", {{"init_scale", 1024}}}}));
        train(*lane, 2);
        lane->set("scaler.scale", 64);
        lane->set("precision.policy", "fp16");
        lane->set("accumulation.steps", 2);
        lane->set("parallel.communication", "bf16");
        train(*lane, 3);
        QCOMPARE(scalesOf(*lane), std::vector<double>(2, 64));
        QVERIFY(lane->state().others[0].tensors.empty()); // the ranks still hold the same weights
        lane->set("parallel.gradients", "local");
        train(*lane, 10);
        QVERIFY(!lane->state().others[0].tensors.empty());
        QVERIFY_EXCEPTION_THROWN(lane->set("parallel.ranks", 4), Error);
        QVERIFY_EXCEPTION_THROWN(lane->set("parallel.batch_norm", "synchronised"), Error);
    }

    void everyFamilyOfScalersStaysTogether()
    {
        for (const std::string& family : scalerFamilies()) {
            for (const bool every : {false, true}) {
                json settings = withRanks(2, {{"scaler", {{"family", family}}}, {"precision", {{"policy", "fp16"}}}});
                settings["accumulation"] = {{"steps", 2}, {"scaler_per_micro_batch", every}};
                settings["parallel"].update({{"every_micro_batch", every}, {"scaler", "synchronised"}});
                const auto lane = makeLane(settings);
                for (int step = 0; step < 12; ++step) {
                    if (step == 5) {
                        lane->set("fault.at_rank", 1);
                        lane->set("fault.loss_spike", 1e9);
                    }
                    lane->step();
                    const std::vector<double> scales = scalesOf(*lane);
                    QVERIFY2(scales[0] == scales[1] || std::isnan(scales[0]), family.c_str());
                }
                const LaneState state = lane->state();
                QVERIFY2(state.scaler == state.others[0].scaler, family.c_str());
                QVERIFY2(state.others[0].tensors.empty() || lane->hasDiverged(), family.c_str());
            }
        }
    }

    void aRankThatFailsEndsTheStep()
    {
        const auto lane = makeLane(withRanks(4));
        train(*lane, 2);
        QVERIFY_EXCEPTION_THROWN(lane->step([](StepStage stage) {
            if (stage == StepStage::Forward) {
                throw Error(ErrorCode::Cancelled, "enough");
            }
        }),
            Error);
        QVERIFY_EXCEPTION_THROWN(lane->step(), Error); // and the lane with it
    }

    void refusesWhatCannotBe_data()
    {
        QTest::addColumn<QString>("parallel");
        QTest::addColumn<QString>("says");
        QTest::newRow("does not divide") << R"({"ranks": 3})"
                                         << "does not divide data.batch (32)";
        QTest::newRow("none") << R"({"ranks": 0})"
                              << "from 1 to 64";
        QTest::newRow("many") << R"({"ranks": 65})"
                              << "from 1 to 64";
        QTest::newRow("too few shares") << R"({"ranks": 3, "shards": [16, 16]})"
                                        << "2 entries for 3 ranks";
        QTest::newRow("wrong sum") << R"({"ranks": 2, "shards": [16, 15]})"
                                   << "31 samples in all";
        QTest::newRow("empty share") << R"({"ranks": 2, "shards": [32, 0]})"
                                     << "from 1 to 65536";
        QTest::newRow("format") << R"({"ranks": 2, "communication": "fp8"})"
                                << "must be one of fp32, fp16, bf16";
        QTest::newRow("key") << R"({"ranks": 2, "divides": "before"})"
                             << "did you mean \"divide\"";
    }

    void refusesWhatCannotBe()
    {
        QFETCH(QString, parallel);
        QFETCH(QString, says);
        std::string message;
        try {
            const json document {
                {"name", "A"}, {"data", {{"batch", 32}}}, {"parallel", json::parse(parallel.toStdString())}};
            parseLane(document, "");
        } catch (const Error& error) {
            message = error.what();
        }
        QVERIFY2(message.find(says.toStdString()) != std::string::npos, message.c_str());
    }

    void refusesAnotherNumberOfProcesses()
    {
        const auto ends = ThreadCommunicator::group(2);
        QVERIFY_EXCEPTION_THROWN(
            Lane(0, configWith(withRanks(4)), {}, digits(), backendByName("cpu"), 1, ends[0]), Error);
        // A lane of one rank is nobody else's business.
        Lane alone(0, configWith(json::object()), {}, digits(), backendByName("cpu"), 1, ends[0]);
        const StepRecord record = alone.step();
        QCOMPARE(record.loss, makeLane(json::object())->step().loss);
    }

    void oneRankChangesNoBit()
    {
        const auto plain = makeLane(json::object());
        const auto one = makeLane(withRanks(1, {{"parallel", {{"communication", "fp16"}, {"shards", {32}}}}}));
        train(*plain, 10);
        train(*one, 10);
        QCOMPARE(one->weightsHash(), plain->weightsHash());
        QVERIFY(one->bytes() == plain->bytes());
    }
};

QTEST_APPLESS_MAIN(TestParallelLane)
#include "tst_parallel_lane.moc"
