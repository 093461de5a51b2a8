/// Which of the processes of this machine that train together this one is: they share out its devices by that number.
#pragma once

namespace mantissa {

/// 0 unless it was set.
[[nodiscard]] int localRank();

/// To be called before anything asks for a device.
void setLocalRank(int rank);

} // namespace mantissa
