/// Whether a backend's result of a case is right.
#pragma once

#include "tests/support/op_cases.h"

#include <optional>
#include <string>
#include <vector>

namespace mantissa::test {

/// "plain", "wide" or "special".
const char* nameOf(Fill fill);

/// What a case must give, worked out once for all backends.
class Verdict
{
public:
    explicit Verdict(const OpCase& opCase)
        : Verdict(opCase, opCase.call)
    {
    }

    /// What is wrong with a result of that device; native BF16 products may take subnormals as zero,
    /// inputs and sums alike.
    [[nodiscard]] std::optional<std::string> complaintAbout(const OpResult& result, const DeviceInfo& device) const;

private:
    Verdict(const OpCase& opCase, OpCall call);
    void forgiveFlushedSums();
    [[nodiscard]] std::optional<std::string> complaintAbout(const OpResult& result) const;
    [[nodiscard]] static std::optional<std::string> compare(
        std::size_t output, const std::vector<Expectation>& expected, const HostTensor& actual);

    const OpCase& m_case;
    OpCall m_call;
    std::vector<std::vector<Expectation>> m_expected;
};

} // namespace mantissa::test
