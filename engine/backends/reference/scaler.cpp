#include "engine/backends/reference/kernels.h"

#include <cmath>

namespace mantissa::reference {

/// Written out a second time, so that the rule which the other backends share has something to be compared with.
void scalerUpdate(const Operands& operands)
{
    const bool foundInf = operands.in(0)[0] != 0;
    const double growthFactor = operands.in(1)[0];
    const double backoffFactor = operands.in(2)[0];
    const double growthInterval = operands.in(3)[0];
    const bool isFrozen = operands.in(4)[0] != 0;
    if (isFrozen) {
        for (std::size_t i = 0; i < 4; ++i) {
            operands.out(i).copyFrom(operands.in(5 + i));
        }
        return;
    }
    double scale = operands.in(5)[0];
    double tracker = operands.in(6)[0] + 1;
    if (foundInf) {
        scale *= backoffFactor;
        tracker = 0;
    } else if (tracker == growthInterval) {
        const double grown = scale * growthFactor;
        scale = std::isfinite(static_cast<float>(grown)) ? grown : scale;
        tracker = 0;
    }
    const double stored = operands.out(0).set(0, scale);
    operands.out(1).set(0, tracker);
    operands.out(2).set(0, stored);
    operands.out(3).set(0, 1 / stored);
}

} // namespace mantissa::reference
