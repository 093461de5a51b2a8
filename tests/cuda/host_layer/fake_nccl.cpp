// The NCCL calls in use, as a library to be found when the program runs, between threads or processes of one machine:
// they meet in shared memory, whose name is the unique id. Strict where NCCL is: a GPU for each rank, one call after
// the other, operands inside allocations, the stream of the connection's GPU.
#include "tests/cuda/host_layer/fake_nccl.h"

#include "tests/cuda/host_layer/host_layer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace mantissa::host_layer {

cudaError_t enqueue(cudaStream_t stream, std::function<cudaError_t()> work);

namespace {

constexpr int mostRanks = 8;
constexpr std::size_t mostBytes = std::size_t {64} << 20U;

/// The calls are numbered from 1.
struct Meeting
{
    std::atomic<unsigned> joined;
    std::atomic<int> gpus[mostRanks];
    std::atomic<std::uint64_t> given[mostRanks]; ///< the call whose parcel a rank has put down
    std::atomic<std::uint64_t> taken[mostRanks]; ///< and whose parcels it has taken
    std::byte parcels[mostBytes];
};

class Room
{
public:
    Room(const char* name, int flags)
    {
        const int file = ::shm_open(name, O_RDWR | flags, 0600);
        void* const memory = file < 0 || ::ftruncate(file, sizeof(Meeting)) != 0
            ? MAP_FAILED
            : ::mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        m_meeting = memory == MAP_FAILED ? nullptr : static_cast<Meeting*>(memory); // begins as zeros
        if (file >= 0) {
            ::close(file);
        }
    }

    ~Room()
    {
        if (m_meeting != nullptr) {
            ::munmap(m_meeting, sizeof(Meeting));
        }
    }

    Room(const Room&) = delete;
    Room& operator=(const Room&) = delete;

    [[nodiscard]] Meeting* meeting() const { return m_meeting; }

private:
    Meeting* m_meeting;
};

/// Shared with calls that are still in a stream when the connection ends.
struct Connection
{
    Connection(const char* roomName, int ownRank, int ranks)
        : name(roomName)
        , room(roomName, 0)
        , rank(ownRank)
        , size(ranks)
    {
    }

    ~Connection() { ::shm_unlink(name.c_str()); } // if not all came

    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    std::string name;
    Room room;
    int rank;
    int size;
    int gpu = 0;
    std::uint64_t calls = 0;
    std::atomic<bool> isAborted = false;

    [[nodiscard]] bool haveAll(const std::atomic<std::uint64_t> (&reached)[mostRanks], std::uint64_t call) const
    {
        for (int other = 0; other < size; ++other) {
            if (reached[other] < call) {
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] std::byte* parcelOf(int other) const
    {
        return room.meeting()->parcels + static_cast<std::size_t>(other) * (mostBytes / static_cast<std::size_t>(size));
    }
};

std::mutex faultsMutex;
NcclFaults faults;
std::atomic<int> connections = 0;
std::atomic<unsigned> rooms = 0;

NcclFaults presentFaults()
{
    const std::lock_guard lock(faultsMutex);
    return faults;
}

} // namespace

void setNccl(const NcclFaults& wanted)
{
    const std::lock_guard lock(faultsMutex);
    faults = wanted;
}

int openConnections()
{
    return connections;
}

} // namespace mantissa::host_layer

using namespace mantissa::host_layer;

struct ncclComm
{
    std::shared_ptr<Connection> connection;
    bool isBusy = false; ///< with a call, until the next question
    bool isUnusable = false;
};

extern "C" {

ncclResult_t ncclGetVersion(int* version)
{
    *version = presentFaults().version;
    return isFailing("ncclGetVersion") ? ncclSystemError : ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result)
{
    return result == ncclRemoteError ? "remote process exited or there was a network error" : "unhandled system error";
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id)
{
    if (isFailing("ncclGetUniqueId")) {
        return ncclSystemError;
    }
    const std::string name = "/mantissa-nccl-" + std::to_string(::getpid()) + "-" + std::to_string(rooms++);
    *id = {};
    std::memcpy(id->internal, name.c_str(), name.size());
    const Room room(name.c_str(), O_CREAT | O_EXCL);
    return room.meeting() == nullptr ? ncclSystemError : ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t* config)
{
    *comm = nullptr;
    if (isFailing("ncclCommInitRankConfig")) {
        return ncclSystemError;
    }
    if (ranks < 1 || ranks > mostRanks || rank < 0 || rank >= ranks || config->magic != 0xcafebeef
        || config->blocking != 0) {
        return ncclInvalidArgument;
    }
    auto connection = std::make_shared<Connection>(id.internal, rank, ranks);
    Meeting* const meeting = connection->room.meeting();
    if (meeting == nullptr || cudaGetDevice(&connection->gpu) != cudaSuccess) {
        return ncclSystemError;
    }
    meeting->gpus[rank] = connection->gpu + 1;
    const bool isUnusable = presentFaults().unconnectable == rank;
    if (!isUnusable && ++meeting->joined == static_cast<unsigned>(ranks)) {
        ::shm_unlink(id.internal);
    }
    *comm = new ncclComm {std::move(connection), true, isUnusable};
    ++connections;
    return ncclInProgress;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* state)
{
    if (isFailing("ncclCommGetAsyncError")) {
        return ncclSystemError;
    }
    const Connection& connection = *comm->connection;
    const Meeting& meeting = *connection.room.meeting();
    *state = ncclSuccess;
    if (comm->isUnusable || presentFaults().isBroken) {
        *state = comm->isUnusable ? ncclSystemError : ncclRemoteError;
    } else if (comm->isBusy || meeting.joined < static_cast<unsigned>(connection.size)) {
        *state = ncclInProgress;
    }
    for (int other = 0; other < connection.size; ++other) {
        if (other != connection.rank && meeting.gpus[other] == connection.gpu + 1) {
            *state = ncclInvalidUsage; // "Duplicate GPU detected"
        }
    }
    comm->isBusy = false;
    return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm)
{
    comm->connection->isAborted = true;
    delete comm;
    --connections;
    return isFailing("ncclCommAbort") ? ncclSystemError : ncclSuccess;
}

ncclResult_t ncclAllGather(
    const void* given, void* all, std::size_t count, ncclDataType_t type, ncclComm_t comm, cudaStream_t stream)
{
    if (isFailing("ncclAllGather")) {
        return ncclSystemError;
    }
    const std::shared_ptr<Connection>& connection = comm->connection;
    auto* const parcels = static_cast<std::byte*>(all);
    const auto size = static_cast<std::size_t>(connection->size);
    int gpu = 0;
    const bool isRight = type == ncclUint8 && !comm->isBusy && cudaGetDevice(&gpu) == cudaSuccess
        && gpu == connection->gpu && isDeviceRange(all, size * count) && count <= mostBytes / size
        && given == parcels + static_cast<std::size_t>(connection->rank) * count;
    if (!isRight) {
        return ncclInvalidUsage;
    }
    comm->isBusy = true;
    enqueue(stream, [connection, parcels, count, call = ++connection->calls, hasGiven = false]() mutable {
        Meeting& meeting = *connection->room.meeting();
        const int rank = connection->rank;
        if (connection->isAborted) {
            return cudaSuccess;
        }
        if (presentFaults().isBroken || (!hasGiven && !connection->haveAll(meeting.taken, call - 1))) {
            return cudaErrorNotReady;
        }
        if (!hasGiven) {
            std::memcpy(connection->parcelOf(rank), parcels + static_cast<std::size_t>(rank) * count, count);
            meeting.given[rank] = call;
            hasGiven = true;
        }
        if (!connection->haveAll(meeting.given, call)) {
            return cudaErrorNotReady;
        }
        for (int other = 0; other < connection->size; ++other) {
            std::memcpy(parcels + static_cast<std::size_t>(other) * count, connection->parcelOf(other), count);
        }
        meeting.taken[rank] = call;
        return cudaSuccess;
    });
    return ncclInProgress;
}
}
