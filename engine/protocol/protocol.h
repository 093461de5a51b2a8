/// The protocol of claim C28: the same training in FP32 and then with AMP, from the same weights on the same batches,
/// before a project is switched over.
#pragma once

#include "engine/protocol/protocol_result.h"
#include "engine/train/session.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mantissa {

struct ProtocolOptions
{
    static constexpr std::int64_t usualSteps = 300;
    static constexpr std::int64_t leastSteps = 20; ///< fewer cannot be judged

    /// Whose settings AMP gets. Empty: those of the first lane in protocolLanes(); if there is none, the first lane's
    /// in FP16 with PyTorch's scaler.
    std::string lane {};
    std::int64_t steps = usualSteps;
    std::optional<std::uint64_t> seed {}; ///< the first one; nothing: the lane's own
    int seeds = 1; ///< counted up from the first
    std::string device = "auto";
    int threads = 0; ///< 0: the session chooses
    std::vector<RunObserver*> observers {}; ///< of every run, one after the other; not owned
};

struct ProtocolProgress
{
    int run = 0; ///< counted from 0; FP32 and AMP take turns
    int runs = 0;
    std::string name {}; ///< "FP32, seed 1"
    const SessionStatus& status;
};

/// Names of the lanes that have something to compare with FP32, in their order.
std::vector<std::string> protocolLanes(const Experiment& experiment);

/// The two trainings of one seed, each an experiment with one lane. FP32 is the lane with everything of 16 bits taken
/// back (policy, overrides, weights, formats of optimizer state and average) and without a scaler; all else is the
/// same. Watchpoints are left out.
struct ProtocolPair
{
    Experiment fp32;
    Experiment amp;
};

/// `further`: added to the first seed. Throws Error (InvalidArgument) if there is no such lane, if it runs in FP32, and
/// for steps and seeds that cannot be.
ProtocolPair protocolPair(const Experiment& experiment, const ProtocolOptions& options, int further = 0);

/// Trains and judges, on the calling thread; `goOn` is asked about a hundred times a second. Throws Error (Cancelled)
/// once it says no, as protocolPair() does, and what training throws.
ProtocolResult runProtocol(const Experiment& experiment, const ProtocolOptions& options,
    const std::function<bool(const ProtocolProgress&)>& goOn);

/// Judges what was trained; at least one seed.
ProtocolResult judgeProtocol(ProtocolRuns runs);

} // namespace mantissa
