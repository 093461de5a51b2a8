/// Messages between ranks, and who of them still lives. MPI itself never says that a rank is gone: whoever waits for it
/// waits for ever. So nothing here blocks inside MPI: transfers are started, then asked for, while every rank sends
/// signs of life four times a second from a thread of its own. A rank that computes for long still gives them; one that
/// is stopped or cut off does not. They travel over MPI too, since MPI knows how to reach a rank on another machine,
/// which sockets of our own would have to find out again.
#pragma once

#include "engine/core/error.h"
#include "engine/parallel/mpi/mpi_world.h"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace mantissa {

/// What a rank is doing, as its signs of life tell.
struct Call
{
    std::uint64_t number = 0; ///< of collective calls begun so far
    std::uint64_t kind = 0; ///< a tag
    std::uint64_t bytes = 0;
    bool operator==(const Call&) const = default;
};

struct Transfer
{
    MPI_Request request = MPI_REQUEST_NULL;
    int rank = 0;
};

/// MPI is called under one mutex (MPI_THREAD_SERIALIZED), by the thread that trains and by that of the signs.
class MpiLink
{
public:
    explicit MpiLink(MpiOptions options);
    ~MpiLink();
    MpiLink(const MpiLink&) = delete;
    MpiLink& operator=(const MpiLink&) = delete;

    [[nodiscard]] int rank() const { return m_rank; }

    [[nodiscard]] int size() const { return static_cast<int>(m_peers.size()); }

    [[nodiscard]] std::string nameOf(int rank) const;

    /// A collective call begins: announced, so that ranks which are not at the same call are told, not left waiting.
    void begin(int tag, std::size_t bytes);

    // Start a transfer; the memory must stay until it is over, or for good after wait() threw.
    void send(int rank, int tag, std::span<const std::byte> bytes, std::vector<Transfer>& started);
    void receive(int rank, int tag, std::span<std::byte> bytes, std::vector<Transfer>& started);

    /// Until all are over; empties the list. Throws Error naming the rank that is lost or has left.
    void wait(std::vector<Transfer>& transfers);

    /// The same for what travels by other means: until `isDone` says so. Throws too if nothing comes to an end for a
    /// minute although every rank takes part.
    void wait(const std::function<bool()>& isDone);

    void leave(const std::string& why);
    /// Whether all ranks came here in time; MPI is over then.
    [[nodiscard]] bool finish();
    void awaitLeader();
    [[noreturn]] void abort(int exitCode);

    /// Memory that MPI may still write to after a call that failed.
    void keep(std::vector<std::vector<std::byte>>&& buffers);

private:
    struct Peer
    {
        std::string host;
        std::string machine; ///< equal for processes that see each other's process numbers
        std::int64_t process = 0;
        double lastSign = 0;
        std::string farewell; ///< why it left; empty: it has not
        Call call {};
        MPI_Request sign = MPI_REQUEST_NULL; ///< the newest one sent to it
        Call sent {}; ///< the memory of it
    };

    void introduce();
    void attend();
    void sendSigns(double now);
    void takeSigns(double now);
    [[nodiscard]] bool isHere(const Peer& peer) const;
    [[nodiscard]] std::string lossOf(int rank, double now) const;
    [[nodiscard]] std::string differenceOf(int rank) const;
    void checkRanks(int awaited);
    [[nodiscard]] std::optional<int> latecomer() const;
    [[noreturn]] void fail(ErrorCode code, const std::string& message);
    void giveSigns(const std::stop_token& stop);

    MpiOptions m_options;
    int m_rank = 0;
    mutable std::mutex m_mutex; ///< guards MPI and all that follows
    MPI_Comm m_signs = MPI_COMM_NULL; ///< of their own, so that they meet no transfer
    std::vector<Peer> m_peers;
    Call m_call {};
    std::optional<Error> m_failure; ///< of the first call that failed: all later ones do too
    double m_lastAttended = 0;
    double m_lastSent = 0;
    double m_interruptedAt = 0; ///< 0: not yet
    bool m_isFinishing = false;
    bool m_isOver = false;
    std::vector<std::vector<std::byte>> m_kept;
    std::jthread m_thread; ///< last: it uses the rest
};

} // namespace mantissa
