#include "app/cli/outcome.h"

#include "app/cli/command.h"
#include "engine/core/error.h"

#include <new>

namespace mantissa::cli {

Outcome outcomeOf(const std::exception_ptr& thrown)
{
    try {
        std::rethrow_exception(thrown);
    } catch (const BadInput& error) {
        return {exitBadInput, error.what()};
    } catch (const Error& error) {
        const bool isInput = error.code() == ErrorCode::InvalidArgument || error.code() == ErrorCode::ShapeMismatch;
        return {isInput ? exitBadInput : exitFailed, error.what()};
    } catch (const std::bad_alloc&) {
        return {exitFailed, "there is not enough memory; try fewer lanes, a smaller batch or a smaller model"};
    } catch (const std::exception& error) {
        return {exitFailed, error.what()};
    }
}

} // namespace mantissa::cli
