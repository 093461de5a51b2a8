#include "engine/parallel/mpi/mpi_link.h"

#include "engine/core/clock.h"
#include "engine/core/error.h"
#include "engine/parallel/local_rank.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

namespace mantissa {

namespace {

constexpr double signInterval = 0.25; // seconds
/// A process that did not run itself for so long must not blame the others for it.
constexpr double ownAbsence = 1;
/// After a stop was asked for: mpirun kills all ranks a second after it has told them, and by then rank 0 must have
/// saved.
constexpr double stopPatience = 0.35;
constexpr int signTag = 1;
constexpr int farewellTag = 2;
constexpr std::size_t farewellBytes = 1024;

constexpr double checkInterval = 0.01; // seconds between looks at who lives, which cost system calls

/// Between two looks whether something is there. Ranks may share cores: the one that is waited for needs this one.
void rest(int turn)
{
    constexpr int eager = 64;
    if (turn < eager) {
        std::this_thread::yield();
    } else {
        std::this_thread::sleep_for(std::chrono::microseconds(std::min(20 + turn / 8, 200)));
    }
}

std::string wordsFor(int status)
{
    std::array<char, MPI_MAX_ERROR_STRING> text {};
    int length = 0;
    MPI_Error_string(status, text.data(), &length);
    return {text.data(), static_cast<std::size_t>(length)};
}

void check(int status, const char* what)
{
    if (status != MPI_SUCCESS) {
        throw Error(ErrorCode::BackendFailure, fmt::format("MPI: {} failed: {}", what, wordsFor(status)));
    }
}

int countOf(std::size_t bytes)
{
    if (bytes > INT_MAX) {
        throw Error(ErrorCode::Internal, fmt::format("MPI: a message of {} bytes is too long", bytes));
    }
    return static_cast<int>(bytes);
}

/// What processes share that can see each other: the running kernel and the space of process numbers.
std::string machineName()
{
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    std::error_code ignored;
    return boot + std::filesystem::read_symlink("/proc/self/ns/pid", ignored).string();
}

struct Introduction
{
    std::array<char, 256> host {};
    std::array<char, 128> machine {};
    std::int64_t process = 0;
};

/// Equal for all processes of a machine, whatever containers they are in.
std::string_view kernelOf(const Introduction& process)
{
    const std::string_view machine = process.machine.data();
    return machine.substr(0, machine.find("pid:"));
}

template <std::size_t size> void fill(std::array<char, size>& into, const std::string& text)
{
    std::copy_n(text.begin(), std::min(text.size(), size - 1), into.begin());
}

} // namespace

MpiLink::MpiLink(MpiOptions options)
    : m_options(std::move(options))
{
    int provided = 0;
    // Without this handler a failed call would end the program inside MPI.
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS
        || provided < MPI_THREAD_SERIALIZED) {
        throw Error(ErrorCode::BackendUnavailable,
            "This MPI cannot be used from two threads (MPI_THREAD_SERIALIZED), which training over processes needs. "
            "Use Debian's Open MPI.");
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &m_signs);
    MPI_Comm_set_errhandler(m_signs, MPI_ERRORS_RETURN);
    introduce();
    m_thread = std::jthread([this](const std::stop_token& stop) { giveSigns(stop); });
}

MpiLink::~MpiLink() = default;

void MpiLink::introduce()
{
    int size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &m_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::array<char, MPI_MAX_PROCESSOR_NAME> host {};
    int length = 0;
    MPI_Get_processor_name(host.data(), &length);
    Introduction own;
    fill(own.host, std::string(host.data(), static_cast<std::size_t>(length)));
    fill(own.machine, machineName());
    own.process = ::getpid();
    std::vector<Introduction> all(static_cast<std::size_t>(size));
    check(MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, MPI_COMM_WORLD), "the start");
    m_lastAttended = steadySeconds();
    const auto isBefore = [&own](const Introduction& other) { return kernelOf(other) == kernelOf(own); };
    setLocalRank(static_cast<int>(std::count_if(all.begin(), all.begin() + m_rank, isBefore)));
    for (const Introduction& other : all) {
        m_peers.push_back({.host = other.host.data(),
            .machine = other.machine.data(),
            .process = other.process,
            .lastSign = m_lastAttended,
            .farewell = {}});
    }
}

std::string MpiLink::nameOf(int rank) const
{
    const Peer& peer = m_peers.at(static_cast<std::size_t>(rank));
    return fmt::format("rank {} (process {} on {})", rank, peer.process, peer.host);
}

// --- signs of life ---

void MpiLink::giveSigns(const std::stop_token& stop)
{
    std::mutex sleeping;
    std::condition_variable_any woken;
    while (!stop.stop_requested()) {
        {
            const std::lock_guard lock(m_mutex);
            if (!m_isOver) {
                attend();
            }
        }
        std::unique_lock lock(sleeping);
        woken.wait_for(lock, stop, std::chrono::duration<double>(signInterval), [] { return false; });
    }
}

void MpiLink::attend()
{
    const double now = steadySeconds();
    if (now - m_lastAttended > ownAbsence) {
        for (Peer& peer : m_peers) {
            peer.lastSign += now - m_lastAttended;
        }
    }
    m_lastAttended = now;
    if (m_interruptedAt == 0 && m_options.isInterrupted()) {
        m_interruptedAt = now;
    }
    takeSigns(now);
    if (now - m_lastSent >= signInterval / 2) {
        sendSigns(now);
    }
}

void MpiLink::sendSigns(double now)
{
    m_lastSent = now;
    for (int rank = 0; rank < size(); ++rank) {
        Peer& peer = m_peers[static_cast<std::size_t>(rank)];
        if (rank == m_rank) {
            continue;
        }
        int done = 1;
        // To one that takes none, the old sign is still on its way.
        if (peer.sign != MPI_REQUEST_NULL && MPI_Test(&peer.sign, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
            peer.sign = MPI_REQUEST_NULL;
            continue;
        }
        if (done != 0) {
            peer.sent = m_call;
            MPI_Isend(&peer.sent, sizeof(Call), MPI_BYTE, rank, signTag, m_signs, &peer.sign);
        }
    }
}

void MpiLink::takeSigns(double now)
{
    while (true) {
        int found = 0;
        MPI_Status status {};
        if (MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, m_signs, &found, &status) != MPI_SUCCESS || found == 0) {
            return;
        }
        std::array<char, farewellBytes> text {};
        if (MPI_Recv(text.data(), farewellBytes, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, m_signs, &status)
            != MPI_SUCCESS) {
            return;
        }
        Peer& peer = m_peers[static_cast<std::size_t>(status.MPI_SOURCE)];
        peer.lastSign = now;
        if (status.MPI_TAG == farewellTag) {
            peer.farewell = text.data();
        } else {
            std::memcpy(&peer.call, text.data(), sizeof(Call));
        }
    }
}

/// Whether the rank runs where this one sees its process.
bool MpiLink::isHere(const Peer& peer) const
{
    return peer.machine == m_peers[static_cast<std::size_t>(m_rank)].machine;
}

/// Why a rank will not come any more; empty while it may.
std::string MpiLink::lossOf(int rank, double now) const
{
    const Peer& peer = m_peers[static_cast<std::size_t>(rank)];
    if (!peer.farewell.empty()) {
        return "has ended: " + peer.farewell;
    }
    if (isHere(peer) && ::kill(static_cast<pid_t>(peer.process), 0) != 0 && errno == ESRCH) {
        return "is gone: its process ended in mid-run";
    }
    if (now - peer.lastSign > m_options.patience) {
        return fmt::format("has given no sign of life for {:.0f} s: it hangs, was stopped, or its machine cannot be "
                           "reached",
            now - peer.lastSign);
    }
    return {};
}

/// Why a rank that lives is not to be waited for; empty if it is.
std::string MpiLink::differenceOf(int rank) const
{
    const Peer& peer = m_peers[static_cast<std::size_t>(rank)];
    return m_call.number == peer.call.number && !(m_call == peer.call)
        ? "does something else than this one: the ranks' settings or data differ"
        : "";
}

void MpiLink::fail(ErrorCode code, const std::string& message)
{
    m_failure.emplace(code, message);
    throw *m_failure;
}

/// Throws if a rank is lost, which all the others need sooner or later, or if a stop cannot wait for `awaited` any
/// more.
void MpiLink::checkRanks(int awaited)
{
    const double now = steadySeconds();
    for (int rank = 0; rank < size(); ++rank) {
        // At the end, those who are through may be gone already.
        const bool matters = rank != m_rank && (rank == awaited || !m_isFinishing);
        if (!matters) {
            continue;
        }
        const std::string loss = lossOf(rank, now);
        if (const std::string why = loss.empty() ? differenceOf(rank) : loss; !why.empty()) {
            fail(ErrorCode::BackendFailure, fmt::format("{} {}.", nameOf(rank), why));
        }
    }
    if (m_rank != 0 || m_isFinishing || m_interruptedAt == 0 || now - m_interruptedAt <= stopPatience) {
        return;
    }
    const Peer& peer = m_peers[static_cast<std::size_t>(awaited)];
    if (const double silent = now - peer.lastSign; !isHere(peer) && silent > 4 * signInterval) {
        // mpirun tells all ranks to end when it sees one die.
        fail(ErrorCode::BackendFailure,
            fmt::format(
                "{} had given no sign of life for {:.1f} s when all ranks were told to end: it, or its machine, "
                "was lost.",
                nameOf(awaited), silent));
    }
    fail(ErrorCode::Cancelled, fmt::format("Stopped while waiting for {}.", nameOf(awaited)));
}

// --- transfers ---

void MpiLink::begin(int tag, std::size_t bytes)
{
    const std::lock_guard lock(m_mutex);
    if (m_failure) {
        throw *m_failure;
    }
    m_call = {m_call.number + 1, static_cast<std::uint64_t>(tag), bytes};
}

void MpiLink::send(int rank, int tag, std::span<const std::byte> bytes, std::vector<Transfer>& started)
{
    const std::lock_guard lock(m_mutex);
    started.push_back({.rank = rank});
    check(MPI_Isend(bytes.data(), countOf(bytes.size()), MPI_BYTE, rank, tag, MPI_COMM_WORLD, &started.back().request),
        "sending");
}

void MpiLink::receive(int rank, int tag, std::span<std::byte> bytes, std::vector<Transfer>& started)
{
    const std::lock_guard lock(m_mutex);
    started.push_back({.rank = rank});
    check(MPI_Irecv(bytes.data(), countOf(bytes.size()), MPI_BYTE, rank, tag, MPI_COMM_WORLD, &started.back().request),
        "receiving");
}

void MpiLink::wait(std::vector<Transfer>& transfers)
{
    double nextCheck = steadySeconds() + checkInterval;
    for (int turn = 0; !transfers.empty(); ++turn) {
        {
            const std::lock_guard lock(m_mutex);
            std::erase_if(transfers, [this](Transfer& transfer) {
                int done = 0;
                const int status = MPI_Test(&transfer.request, &done, MPI_STATUS_IGNORE);
                if (status != MPI_SUCCESS) {
                    fail(ErrorCode::BackendFailure,
                        fmt::format("The exchange with {} failed: {}", nameOf(transfer.rank), wordsFor(status)));
                }
                return done != 0;
            });
            if (transfers.empty()) {
                return;
            }
            // By the clock, not by turns, which take long on a machine that is busy.
            if (const double now = steadySeconds(); now >= nextCheck) {
                nextCheck = now + checkInterval;
                attend();
                checkRanks(transfers.front().rank);
            }
        }
        rest(turn);
    }
}

/// A rank that has not come to the present call, as far as its signs tell.
std::optional<int> MpiLink::latecomer() const
{
    for (int rank = 0; rank < size(); ++rank) {
        if (rank != m_rank && m_peers[static_cast<std::size_t>(rank)].call.number < m_call.number) {
            return rank;
        }
    }
    return std::nullopt;
}

void MpiLink::wait(const std::function<bool()>& isDone)
{
    constexpr double longestTransfer = 60;
    double allCameAt = 0; // 0: not yet
    double nextCheck = steadySeconds() + checkInterval;
    for (int turn = 0; !isDone(); ++turn) {
        if (const double now = steadySeconds(); now >= nextCheck) {
            const std::lock_guard lock(m_mutex);
            nextCheck = now + checkInterval;
            attend();
            const std::optional<int> late = latecomer();
            checkRanks(late.value_or((m_rank + 1) % size()));
            allCameAt = late ? 0 : allCameAt == 0 ? now : allCameAt;
            if (!late && now - allCameAt > longestTransfer) {
                fail(ErrorCode::BackendFailure,
                    fmt::format(
                        "The exchange between the devices has stood still for {:.0f} s, though every rank takes "
                        "part in it: a GPU hangs, or the network between them fails.",
                        longestTransfer));
            }
        }
        rest(turn);
    }
}

void MpiLink::keep(std::vector<std::vector<std::byte>>&& buffers)
{
    const std::lock_guard lock(m_mutex);
    std::move(buffers.begin(), buffers.end(), std::back_inserter(m_kept));
}

// --- ends ---

void MpiLink::leave(const std::string& why)
{
    const std::lock_guard lock(m_mutex);
    std::array<char, farewellBytes> text {};
    fill(text, why.empty() ? "it did not say why" : why);
    for (int rank = 0; rank < size(); ++rank) {
        if (rank != m_rank) {
            MPI_Request request = MPI_REQUEST_NULL;
            m_kept.emplace_back(farewellBytes);
            std::memcpy(m_kept.back().data(), text.data(), farewellBytes);
            MPI_Isend(m_kept.back().data(), farewellBytes, MPI_BYTE, rank, farewellTag, m_signs, &request);
        }
    }
}

bool MpiLink::finish()
{
    constexpr int tag = 99;
    try {
        begin(tag, 0);
        {
            const std::lock_guard lock(m_mutex);
            m_isFinishing = true;
        }
        std::vector<Transfer> transfers;
        for (int rank = 0; rank < size(); ++rank) {
            if (rank != m_rank) {
                send(rank, tag, {}, transfers);
                receive(rank, tag, {}, transfers);
            }
        }
        wait(transfers);
    } catch (const Error&) {
        return false;
    }
    m_thread.request_stop();
    m_thread.join();
    const std::lock_guard lock(m_mutex);
    m_isOver = true;
    takeSigns(steadySeconds());
    MPI_Finalize();
    return true;
}

void MpiLink::awaitLeader()
{
    constexpr int mostRounds = 240;
    for (int round = 0; round < mostRounds; ++round) {
        {
            const std::lock_guard lock(m_mutex);
            if (m_rank == 0 || !lossOf(0, steadySeconds()).empty()) {
                return;
            }
        }
        std::this_thread::sleep_for(std::chrono::duration<double>(signInterval));
    }
}

void MpiLink::abort(int exitCode)
{
    const std::lock_guard lock(m_mutex);
    MPI_Abort(MPI_COMM_WORLD, exitCode);
    ::_exit(exitCode);
}

} // namespace mantissa
