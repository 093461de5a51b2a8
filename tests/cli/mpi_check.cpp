// Started by mpirun: checks what ranks that are processes exchange, bit for bit, and says "ok" on rank 0.
// With the name of a rank's fate as its argument it plays that: "leaves", "differs", and the same with " elsewhere".
#include "engine/core/error.h"
#include "engine/parallel/broadcast_text.h"
#include "engine/parallel/local_rank.h"
#include "engine/parallel/mpi/mpi_world.h"
#include "engine/parallel/rank_order_sum.h"

#include <bit>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace mantissa;

std::uint32_t mixed(std::uint32_t value)
{
    value = (value ^ (value >> 16U)) * 0x7feb352dU;
    value = (value ^ (value >> 15U)) * 0x846ca68bU;
    return value ^ (value >> 16U);
}

/// Of all magnitudes that gradients have, and what breaks sums.
float valueOf(int rank, std::size_t index)
{
    constexpr float inf = std::numeric_limits<float>::infinity();
    const std::uint32_t bits = mixed(static_cast<std::uint32_t>(index * 64 + static_cast<std::size_t>(rank)));
    switch (bits % 97) {
    case 0:
        return rank == 1 ? inf : 1;
    case 1:
        return rank == 0 ? inf : -inf;
    case 2:
        return rank == 1 ? std::numeric_limits<float>::quiet_NaN() : 2;
    case 3:
        return -0.0F;
    case 4:
        return 60000; // two of them overflow FP16
    case 5:
        return 1e-8F;
    default:
        return std::bit_cast<float>((bits & 0x807fffffU) | ((100 + bits % 31) << 23U));
    }
}

bool sumsAgree(Communicator& ranks, std::size_t count, DType format)
{
    std::vector<float> values(count);
    std::vector<float> expected(count);
    std::vector<float> part(count);
    for (int rank = 0; rank < ranks.size(); ++rank) {
        for (std::size_t i = 0; i < count; ++i) {
            (rank == 0 ? expected : part)[i] = valueOf(rank, i);
            if (rank == ranks.rank()) {
                values[i] = valueOf(rank, i);
            }
        }
        if (rank == 0) {
            roundToFormat(expected, format);
        } else {
            addInFormat(expected, part, format);
        }
    }
    ranks.allReduceSum(values, format);
    for (std::size_t i = 0; i < count; ++i) {
        if (std::bit_cast<std::uint32_t>(values[i]) != std::bit_cast<std::uint32_t>(expected[i])) {
            std::fprintf(stderr, "rank %d: sum %zu of %zu in %s is %a, expected %a\n", ranks.rank(), i, count,
                std::string(nameOf(format)).c_str(), static_cast<double>(values[i]), static_cast<double>(expected[i]));
            return false;
        }
    }
    return true;
}

bool gathersAndBroadcasts(Communicator& ranks)
{
    const double own[2] = {1.5 * ranks.rank(), -ranks.rank() - 0.25};
    std::vector<double> all(2 * static_cast<std::size_t>(ranks.size()));
    ranks.allGather(own, all);
    for (int rank = 0; rank < ranks.size(); ++rank) {
        const auto at = 2 * static_cast<std::size_t>(rank);
        if (all[at] != 1.5 * rank || all[at + 1] != -rank - 0.25) {
            std::fprintf(stderr, "rank %d: allGather is wrong\n", ranks.rank());
            return false;
        }
    }
    for (int root = 0; root < ranks.size(); ++root) {
        // More than what is sent at a time.
        std::string text(root == 0 ? std::size_t {70} << 20U : 1000, static_cast<char>('a' + root));
        const std::string got = broadcastText(ranks, ranks.rank() == root ? text : std::string("no"), root);
        if (got != text) {
            std::fprintf(stderr, "rank %d: the text of rank %d did not arrive\n", ranks.rank(), root);
            return false;
        }
    }
    return broadcastText(ranks, {}, 0).empty();
}

/// What travels by other means is over when it says so, and ranks of one machine know their numbers.
bool awaits(Communicator& ranks)
{
    int asked = 0;
    ranks.await(8, [&] { return ++asked == 100 * (ranks.rank() + 1); });
    if (asked != 100 * (ranks.rank() + 1) || !ranks.isAcrossProcesses() || localRank() != ranks.rank()) {
        std::fprintf(stderr, "rank %d: asked %d times, local rank %d\n", ranks.rank(), asked, localRank());
        return false;
    }
    return true;
}

int check(World& world)
{
    const std::shared_ptr<Communicator> ranks = world.communicator();
    bool good = true;
    for (const DType format : {DType::Float32, DType::Float16, DType::BFloat16}) {
        for (const std::size_t count : {0, 1, 3, 1000, 123'457}) {
            good = sumsAgree(*ranks, count, format) && good;
        }
    }
    good = gathersAndBroadcasts(*ranks) && good;
    good = awaits(*ranks) && good;
    if (good && world.rank() == 0) {
        std::puts("ok");
    }
    return good ? 0 : 1;
}

/// The last rank leaves, or asks for something else: the others are told, not left waiting, also for what travels by
/// other means ("... elsewhere").
int play(World& world, const std::string& fate)
{
    const std::shared_ptr<Communicator> ranks = world.communicator();
    if (world.rank() == world.size() - 1) {
        if (fate.starts_with("leaves")) {
            world.leave("it had enough");
        } else {
            double number = 0;
            std::vector<double> all(static_cast<std::size_t>(world.size()));
            ranks->allGather({&number, 1}, all);
        }
        world.awaitLeader();
        return 1;
    }
    if (fate.ends_with("elsewhere")) {
        ranks->await(400, [] { return false; });
    }
    std::vector<float> values(100, 1);
    ranks->allReduceSum(values, DType::Float32);
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    const std::unique_ptr<World> world = joinMpiWorld({});
    int code = 1;
    try {
        code = argc > 1 ? play(*world, argv[1]) : check(*world);
    } catch (const Error& error) {
        std::fprintf(stderr, "rank %d got: %s\n", world->rank(), error.what());
    }
    std::fflush(nullptr);
    if (code == 0 && world->finish()) {
        return 0;
    }
    if (world->rank() != 0) {
        world->awaitLeader();
    }
    world->abort(1);
}
