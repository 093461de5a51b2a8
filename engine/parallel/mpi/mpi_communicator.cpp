#include "engine/parallel/mpi/mpi_communicator.h"

#include "engine/core/error.h"
#include "engine/formats/convert.h"
#include "engine/parallel/rank_order_sum.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace mantissa {

namespace {

constexpr int partTag = 1;
constexpr int sumTag = 2;
constexpr int gatherTag = 3;
constexpr int broadcastTag = 4;
constexpr int elsewhereTag = 5;

} // namespace

MpiCommunicator::MpiCommunicator(std::shared_ptr<MpiLink> link)
    : m_link(std::move(link))
    , m_buffers(2 * static_cast<std::size_t>(m_link->size()))
{
}

/// MPI may write to the buffers of a call that failed for as long as the process lives.
template <typename Exchange> void MpiCommunicator::guarded(const Exchange& exchange)
{
    try {
        exchange();
    } catch (...) {
        m_link->keep(std::exchange(m_buffers, std::vector<std::vector<std::byte>>(m_buffers.size())));
        m_transfers.clear();
        throw;
    }
}

std::span<std::byte> MpiCommunicator::buffer(std::size_t index, std::size_t bytes)
{
    if (m_buffers[index].size() < bytes) {
        m_buffers[index].resize(bytes);
    }
    return std::span(m_buffers[index]).first(bytes);
}

void MpiCommunicator::allReduceSum(std::span<float> values, DType format)
{
    guarded([&] { reduce(values, format); });
}

void MpiCommunicator::allGather(std::span<const double> own, std::span<double> all)
{
    guarded([&] { gather(own, all); });
}

void MpiCommunicator::broadcast(std::span<std::byte> bytes, int root)
{
    guarded([&] { spread(bytes, root); });
}

void MpiCommunicator::await(std::size_t bytes, const std::function<bool()>& isDone)
{
    m_link->begin(elsewhereTag, bytes);
    m_link->wait(isDone);
}

void MpiCommunicator::reduce(std::span<float> values, DType format)
{
    const auto ranks = static_cast<std::size_t>(size());
    const auto own = static_cast<std::size_t>(rank());
    const std::size_t width = sizeOf(format);
    const auto partOf = [&](std::size_t r) {
        const std::size_t begin = values.size() * r / ranks;
        return values.subspan(begin, values.size() * (r + 1) / ranks - begin);
    };
    m_link->begin(partTag, values.size() * width);
    const std::span<float> ownPart = partOf(own);
    for (std::size_t r = 0; r < ranks; ++r) {
        if (r != own) {
            const std::span<float> part = partOf(r);
            const std::span<std::byte> outgoing = buffer(2 * r, part.size() * width);
            fromFloats(format, part, outgoing);
            m_link->send(static_cast<int>(r), partTag, outgoing, m_transfers);
            m_link->receive(static_cast<int>(r), partTag, buffer(2 * r + 1, ownPart.size() * width), m_transfers);
        }
    }
    m_link->wait(m_transfers);

    m_sum.resize(ownPart.size());
    m_part.resize(ownPart.size());
    for (std::size_t r = 0; r < ranks; ++r) {
        std::vector<float>& into = r == 0 ? m_sum : m_part;
        if (r == own) {
            std::ranges::copy(ownPart, into.begin());
            roundToFormat(into, format);
        } else {
            toFloats(format, buffer(2 * r + 1, ownPart.size() * width), into);
        }
        if (r > 0) {
            addInFormat(m_sum, m_part, format);
        }
    }

    std::ranges::copy(m_sum, ownPart.begin());
    for (std::size_t r = 0; r < ranks; ++r) {
        if (r != own) {
            const std::span<std::byte> outgoing = buffer(2 * r, ownPart.size() * width);
            fromFloats(format, m_sum, outgoing);
            m_link->send(static_cast<int>(r), sumTag, outgoing, m_transfers);
            m_link->receive(static_cast<int>(r), sumTag, buffer(2 * r + 1, partOf(r).size() * width), m_transfers);
        }
    }
    m_link->wait(m_transfers);
    for (std::size_t r = 0; r < ranks; ++r) {
        if (r != own) {
            toFloats(format, buffer(2 * r + 1, partOf(r).size() * width), partOf(r));
        }
    }
}

void MpiCommunicator::gather(std::span<const double> own, std::span<double> all)
{
    const auto ranks = static_cast<std::size_t>(size());
    if (all.size() != ranks * own.size()) {
        throw Error(ErrorCode::ShapeMismatch, "allGather: the result must have room for all ranks' numbers");
    }
    m_link->begin(gatherTag, own.size_bytes());
    for (std::size_t r = 0; r < ranks; ++r) {
        if (static_cast<int>(r) != rank()) {
            const std::span<std::byte> outgoing = buffer(2 * r, own.size_bytes());
            std::ranges::copy(std::as_bytes(own), outgoing.begin());
            m_link->send(static_cast<int>(r), gatherTag, outgoing, m_transfers);
            m_link->receive(static_cast<int>(r), gatherTag, buffer(2 * r + 1, own.size_bytes()), m_transfers);
        }
    }
    m_link->wait(m_transfers);
    for (std::size_t r = 0; r < ranks; ++r) {
        const std::span<double> into = all.subspan(r * own.size(), own.size());
        if (static_cast<int>(r) == rank()) {
            std::ranges::copy(own, into.begin());
        } else {
            std::ranges::copy(buffer(2 * r + 1, own.size_bytes()), std::as_writable_bytes(into).begin());
        }
    }
}

void MpiCommunicator::spread(std::span<std::byte> bytes, int root)
{
    constexpr std::size_t most = std::size_t {1} << 26U; // what is copied at a time
    const auto from = static_cast<std::size_t>(root);
    for (std::size_t begin = 0; begin < bytes.size(); begin += most) {
        const std::span<std::byte> block = bytes.subspan(begin, std::min(most, bytes.size() - begin));
        m_link->begin(broadcastTag, block.size());
        if (rank() == root) {
            const std::span<std::byte> outgoing = buffer(2 * from, block.size());
            std::ranges::copy(block, outgoing.begin());
            for (int r = 0; r < size(); ++r) {
                if (r != root) {
                    m_link->send(r, broadcastTag, outgoing, m_transfers);
                }
            }
            m_link->wait(m_transfers);
        } else {
            const std::span<std::byte> incoming = buffer(2 * from + 1, block.size());
            m_link->receive(root, broadcastTag, incoming, m_transfers);
            m_link->wait(m_transfers);
            std::ranges::copy(incoming, block.begin());
        }
    }
}

} // namespace mantissa
