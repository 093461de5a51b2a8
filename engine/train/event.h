/// Something that happened to a session at a step boundary.
#pragma once

#include <cstdint>
#include <string>

namespace mantissa {

enum class EventKind : std::uint8_t {
    Set, ///< a setting changed: path, before, after (JSON texts)
    LaneAdded,
    LaneRemoved,
    Started,
    Paused,
    Reset,
    Finished, ///< the lane reached its last step
    Stopped, ///< ended by a person before its last step
    Diverged, ///< the weights are no longer finite: text says since when
    Failed, ///< an error ended the lane: text is its message
    Numerics, ///< numbers are no longer finite, or the gradient is zero, for a cause new to the lane: text says so,
              ///< path where (empty: in FP32)
    Checkpoint, ///< path: the file that holds the lane before `step`; text: why there is none
    Resumed, ///< the lane goes on from a checkpoint: path is its file
    Weights, ///< the lane starts from the weights in a file: path is it, text says what was adapted
    Exchange, ///< text says what carries the gradients between the devices of the ranks, or why the host does
    Watch, ///< a watchpoint's condition became true behind `step`: path is it, after its values (JSON), text what it
           ///< did
    Refused, ///< a command could not be applied: text says why; nothing changed
};

/// `step` is the first step that ran (or would run) with the change.
struct Event
{
    EventKind kind = EventKind::Set;
    std::int64_t step = 0;
    std::uint32_t lane = allLanes;
    std::string path {};
    std::string before {};
    std::string after {};
    std::string text {};
    bool scripted = false; ///< came from the experiment file, not from a person
    double unixSeconds = 0; ///< wall-clock time
    std::uint64_t command = 0; ///< the command that caused it; 0 if none did

    static constexpr std::uint32_t allLanes = 0xFFFFFFFFU;
};

} // namespace mantissa
