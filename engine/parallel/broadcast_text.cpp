#include "engine/parallel/broadcast_text.h"

#include <cstdint>

namespace mantissa {

std::string broadcastText(Communicator& ranks, std::string text, int root)
{
    std::uint64_t size = text.size();
    ranks.broadcast(std::as_writable_bytes(std::span(&size, 1)), root);
    text.resize(size);
    if (size > 0) {
        ranks.broadcast(std::as_writable_bytes(std::span(text)), root);
    }
    return text;
}

} // namespace mantissa
