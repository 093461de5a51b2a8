#include "engine/parallel/local_rank.h"

#include <atomic>

namespace mantissa {

namespace {

std::atomic<int> ownLocalRank = 0;

} // namespace

int localRank()
{
    return ownLocalRank;
}

void setLocalRank(int rank)
{
    ownLocalRank = rank;
}

} // namespace mantissa
