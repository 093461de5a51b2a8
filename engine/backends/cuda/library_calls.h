/// Calls of a library that is looked for when the program runs.
#pragma once

#include <dlfcn.h>

#include <cstdlib>

namespace mantissa::cuda {

/// What the variable of the environment names, or else `usual`.
inline const char* libraryName(const char* variable, const char* usual)
{
    const char* const named = std::getenv(variable);
    return named != nullptr ? named : usual;
}

/// Whether the library has the call.
template <typename Call> bool find(void* library, const char* name, Call& call)
{
    call = reinterpret_cast<Call>(dlsym(library, name));
    return call != nullptr;
}

} // namespace mantissa::cuda
