/// Random test data on a fresh seed per program run; MANTISSA_TEST_SEED in the environment repeats a run.
#pragma once

#include "tests/support/host_tensor.h"

#include <random>
#include <string>

namespace mantissa::test {

/// What a tensor is filled with.
enum class Fill {
    Plain, ///< standard normal
    Wide, ///< magnitudes over the whole format, subnormals, zeros of both signs and the largest value included
    Special, ///< as Wide, with infinities and NaN among them
};

class RandomValues
{
public:
    /// Tests that use different `purpose` numbers draw independently of each other.
    explicit RandomValues(std::uint64_t purpose);

    /// "seed 123 (repeat with MANTISSA_TEST_SEED=123)", for failure messages.
    [[nodiscard]] static std::string seedText();

    double uniform(double low, double high);
    double normal();
    std::int64_t integer(std::int64_t low, std::int64_t high); ///< both ends included

    /// Magnitudes stay at or below `largest` (infinities excepted).
    HostTensor tensor(DType dtype, const Shape& shape, Fill fill, double largest = 0x1p1023);
    HostTensor uniformTensor(DType dtype, const Shape& shape, double low, double high);
    HostTensor labels(std::int64_t rows, std::int64_t classes);

private:
    double value(DType dtype, Fill fill, double largest);

    std::mt19937_64 m_engine;
};

} // namespace mantissa::test
