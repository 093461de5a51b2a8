#include "ui/sweep/sweep_loader.h"

#include <QMetaObject>

#include <cmath>
#include <limits>

namespace mantissa {

namespace {

constexpr std::size_t mostWindows = 300;
constexpr qsizetype atATime = 25;

} // namespace

ThinCurve thinned(const RunColumns& columns, std::size_t most)
{
    ThinCurve curve;
    const std::size_t count = columns.step.size();
    const std::size_t width = (count + most - 1) / std::max<std::size_t>(most, 1);
    for (std::size_t first = 0; first < count; first += width) {
        const std::size_t end = std::min(first + width, count);
        double sum = 0;
        int finite = 0;
        for (std::size_t i = first; i < end; ++i) {
            if (std::isfinite(columns.loss[i])) {
                sum += columns.loss[i];
                ++finite;
            }
        }
        curve.step.push_back(static_cast<double>(columns.step[first] + columns.step[end - 1]) / 2);
        curve.loss.push_back(finite == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / finite);
    }
    return curve;
}

SweepLoader::SweepLoader(std::filesystem::path database, QObject* parent)
    : QObject(parent)
    , m_database(std::move(database))
{
    m_pool.setMaxThreadCount(1);
}

SweepLoader::~SweepLoader()
{
    ++m_request;
    m_pool.waitForDone();
}

void SweepLoader::load(const QList<RunId>& runs)
{
    const quint64 request = ++m_request;
    m_pool.start([this, runs, request] {
        for (qsizetype first = 0; first < runs.size() && request == m_request; first += atATime) {
            auto curves = std::make_shared<QHash<RunId, ThinCurve>>();
            try {
                const RunStore store(m_database, StoreAccess::ReadOnly);
                for (const RunId run : runs.mid(first, atATime)) {
                    if (request != m_request) {
                        return;
                    }
                    curves->insert(run, thinned(store.columns(run), mostWindows));
                }
            } catch (const std::exception&) {
                // The list of runs says what is wrong with the file; a curve that can't be read is not drawn.
            }
            QMetaObject::invokeMethod(
                this,
                [this, request, curves = Curves(std::move(curves))] {
                    if (request == m_request) {
                        emit loaded(curves);
                    }
                },
                Qt::QueuedConnection);
        }
    });
}

} // namespace mantissa
