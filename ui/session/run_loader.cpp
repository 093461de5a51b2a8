#include "ui/session/run_loader.h"

#include "engine/core/error.h"
#include "engine/diagnose/diagnose.h"
#include "engine/diagnose/stored_run.h"
#include "engine/store/spread_samples.h"

#include <QMetaObject>

#include <exception>
#include <functional>
#include <string>
#include <utility>

namespace mantissa {

namespace {

std::shared_ptr<const StoredCurves> curvesOf(const RunStore& store, RunId run)
{
    auto curves = std::make_shared<StoredCurves>();
    curves->columns = store.columns(run);
    curves->seams = store.events(run);
    std::erase_if(curves->seams, [](const Event& event) { return event.kind != EventKind::Resumed; });
    return curves;
}

RunInfo infoOf(const RunStore& store, RunId run, const std::filesystem::path& database)
{
    auto info = store.run(run);
    if (!info) {
        throw Error(ErrorCode::Io, "Run " + std::to_string(run) + " is no longer in " + database.string() + ".");
    }
    return *std::move(info);
}

} // namespace

RunLoader::RunLoader(std::filesystem::path database, QObject* parent)
    : QObject(parent)
    , m_database(std::move(database))
{
    m_pool.setMaxThreadCount(1);
}

RunLoader::~RunLoader()
{
    m_pool.clear();
    m_pool.waitForDone();
}

/// Runs `work` in the pool; it returns what is then called on the GUI thread.
template <typename Work> void RunLoader::start(Work work)
{
    m_pool.start([this, work = std::move(work)] {
        try {
            auto deliver = work();
            QMetaObject::invokeMethod(this, std::move(deliver), Qt::QueuedConnection);
        } catch (const std::exception& error) {
            const QString why = QString::fromUtf8(error.what());
            QMetaObject::invokeMethod(
                this, [this, why] { emit failed(why); }, Qt::QueuedConnection);
        }
    });
}

void RunLoader::loadColumns(RunId run)
{
    start([this, run, database = m_database] {
        const RunStore store(database, StoreAccess::ReadOnly);
        return [this, info = infoOf(store, run, database), curves = curvesOf(store, run)] {
            emit columnsLoaded(info, curves);
        };
    });
}

void RunLoader::loadSamples(RunId run)
{
    start([this, run, database = m_database] {
        constexpr std::size_t most = 300;
        const RunStore store(database, StoreAccess::ReadOnly);
        auto look = std::make_shared<StoredLook>();
        look->info = infoOf(store, run, database);
        look->columns = store.columns(run);
        for (StepSample& sample : spreadSamples(store, run, most)) {
            look->samples.push_back(std::make_shared<const StepSample>(std::move(sample)));
        }
        return [this, look = StoredLookPtr(std::move(look))] { emit samplesLoaded(look); };
    });
}

void RunLoader::loadReplay(RunId run)
{
    start([this, run, database = m_database] {
        const RunStore store(database, StoreAccess::ReadOnly);
        const QByteArray text = QByteArray::fromStdString(store.replayExperiment(run).dump());
        return [this, run, text] { emit replayLoaded(run, text); };
    });
}

void RunLoader::loadGradients(RunId run)
{
    start([this, run, database = m_database] {
        const RunStore store(database, StoreAccess::ReadOnly);
        auto steps = std::make_shared<std::vector<PlayStep>>();
        for (const StepRecord& record : store.records(run)) {
            steps->push_back({.gradMax = record.gradMax, .loss = record.loss});
        }
        return [this, run, steps = std::shared_ptr<const std::vector<PlayStep>>(std::move(steps))] {
            emit gradientsLoaded(run, steps);
        };
    });
}

void RunLoader::loadLane(std::shared_ptr<RunWriter> writer, std::uint32_t lane)
{
    start([this, lane, writer = std::move(writer), database = m_database] {
        writer->flush();
        const RunStore store(database, StoreAccess::ReadOnly);
        return [this, lane, curves = curvesOf(store, writer->runOf(lane))] { emit laneLoaded(lane, curves); };
    });
}

void RunLoader::diagnoseLane(std::shared_ptr<RunWriter> writer, std::uint32_t lane)
{
    start([this, lane, writer = std::move(writer), database = m_database] {
        writer->flush();
        const RunStore store(database, StoreAccess::ReadOnly);
        const StoredRun run = readStoredRun(store, writer->runOf(lane));
        auto findings = std::make_shared<const std::vector<Finding>>(diagnose(run.view()));
        return [this, lane, findings] { emit laneDiagnosed(lane, findings); };
    });
}

void RunLoader::diagnoseRun(RunId run)
{
    start([this, run, database = m_database] {
        const RunStore store(database, StoreAccess::ReadOnly);
        auto findings = std::make_shared<const std::vector<Finding>>(diagnose(readStoredRun(store, run).view()));
        return [this, info = infoOf(store, run, database), findings] { emit runDiagnosed(info, findings); };
    });
}

void RunLoader::compare(std::shared_ptr<RunWriter> writer, const RunOrLane& a, const RunOrLane& b)
{
    start([this, a, b, writer = std::move(writer), database = m_database]() -> std::function<void()> {
        try {
            if (writer) {
                writer->flush();
            }
            const RunStore store(database, StoreAccess::ReadOnly);
            const auto runOf = [&writer](const RunOrLane& side) {
                const auto* run = std::get_if<RunId>(&side);
                return run != nullptr ? *run : writer->runOf(std::get<std::uint32_t>(side));
            };
            auto comparison = std::make_shared<const RunComparison>(compareRuns(store, runOf(a), runOf(b)));
            return [this, comparison] { emit compared(comparison); };
        } catch (const std::exception& error) {
            const QString why = QString::fromUtf8(error.what());
            return [this, why] { emit comparisonFailed(why); };
        }
    });
}

} // namespace mantissa
