/// The exception type of the engine, and the reasons it carries.
#pragma once

#include <stdexcept>
#include <string>

namespace mantissa {

enum class ErrorCode {
    InvalidArgument, ///< a setting or file is wrong; the text says what, where, and what to do
    ShapeMismatch,
    UnsupportedDtype,
    BackendUnavailable,
    BackendFailure,
    OutOfMemory,
    Io,
    Cancelled,
    Internal
};

/// A failed call. what() is plain text for people: what happened, where, and what to do.
class Error : public std::runtime_error
{
public:
    Error(ErrorCode code, const std::string& message)
        : std::runtime_error(message)
        , m_code(code)
    {
    }

    [[nodiscard]] ErrorCode code() const noexcept { return m_code; }

private:
    ErrorCode m_code;
};

} // namespace mantissa
