/// Reads the losses of many stored runs on a thread of its own, thinned out to what a small plot can show.
#pragma once

#include "engine/store/run_store.h"

#include <QHash>
#include <QList>
#include <QObject>
#include <QThreadPool>

#include <atomic>
#include <filesystem>
#include <memory>
#include <vector>

namespace mantissa {

/// A run's loss in windows of equally many steps.
struct ThinCurve
{
    std::vector<double> step; ///< the middle of the window
    std::vector<double> loss; ///< mean of the finite ones; NaN where none is
};

/// At most `most` windows.
ThinCurve thinned(const RunColumns& columns, std::size_t most);

class SweepLoader : public QObject
{
    Q_OBJECT
public:
    using Curves = std::shared_ptr<const QHash<RunId, ThinCurve>>;

    explicit SweepLoader(std::filesystem::path database, QObject* parent = nullptr);
    ~SweepLoader() override;

    /// Answered by loaded(), several times if there are many; forgets what was asked before. Runs that are gone are
    /// left out.
    void load(const QList<RunId>& runs);

signals:
    void loaded(const mantissa::SweepLoader::Curves& curves);

private:
    std::filesystem::path m_database;
    std::atomic<quint64> m_request = 0;
    QThreadPool m_pool;
};

} // namespace mantissa
