/// Watchpoints: conditions that act while lanes train. They are no settings of a lane: what one changes is an event of
/// the run like any other, so that a replay needs no watchpoint.
#pragma once

#include "engine/train/experiment.h"
#include "engine/train/watch_expression.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mantissa {

class Graph;

/// "pause", "snapshot", "fork", "set".
std::string_view nameOf(WatchAction action);

/// One of an experiment file, `place` ("watch[0].") and `source` naming it in messages. Throws Error (InvalidArgument).
Watchpoint readWatchpoint(const nlohmann::json& document, const std::string& source, const std::string& place);
nlohmann::json writeWatchpoint(const Watchpoint& watchpoint);

/// Checks that the lane exists, and that what is to be set can be. Throws Error (InvalidArgument).
void checkWatchpoint(const Watchpoint& watchpoint, const std::vector<LaneConfig>& lanes, const std::string& source,
    const std::string& place);

/// Throws WatchSyntaxError for a layer that the model does not have, naming the nearest.
void checkLayers(const WatchExpression& expression, const Graph& graph);

/// Its layers and blocks, by which parameters may be named: "fc1", "block0", "block0.attention".
std::vector<std::string> layersOf(const Graph& graph);

/// Whether `parameter` is the layer's, or the layer itself.
bool belongsTo(std::string_view parameter, std::string_view layer);

/// What a watchpoint says when it acts.
struct WatchFiring
{
    std::size_t watchpoint = 0; ///< by position
    std::vector<WatchedValue> values;
};

/// The watchpoints of one lane as they stand. A copy goes on from the same state.
class LaneWatch
{
public:
    LaneWatch() = default;
    /// Those of the list that are on and watch the lane; those that `before` had already stay as they are. `isCopy`: a
    /// watchpoint made the lane, so no watchpoint copies it again. Throws WatchSyntaxError.
    LaneWatch(const std::vector<Watchpoint>& watchpoints, const std::string& lane, const Graph& graph,
        bool isCopy = false, const LaneWatch* before = nullptr);

    /// The watchpoints whose condition has just become true. Allocates nothing unless there are some.
    [[nodiscard]] std::vector<WatchFiring> next(const StepRecord& record, const LayerSharesOf& sharesOf);

    /// The conditions that held behind the last step, so that a lane which goes on elsewhere does not act on them
    /// again.
    [[nodiscard]] std::vector<std::string> trueConditions() const;
    void noteTrue(const std::vector<std::string>& conditions);

    [[nodiscard]] bool isEmpty() const { return m_watched.empty(); }

    [[nodiscard]] bool isCopy() const { return m_isCopy; }

private:
    struct Watched
    {
        std::size_t watchpoint;
        std::string when;
        WatchExpression expression;
        bool wasTrue = false;
    };

    std::vector<Watched> m_watched;
    bool m_isCopy = false;
};

/// "loss = 12.3, scale = 0.5"
std::string textOf(const std::vector<WatchedValue>& values);

} // namespace mantissa
