#include "engine/backends/cpu/dnnl_call.h"

#include "engine/backends/cpu/cpu_backend.h"
#include "engine/core/error.h"

#include <atomic>

namespace mantissa {

namespace {

std::atomic<std::uint64_t> createdPrimitives {0};

} // namespace

std::uint64_t cpuPrimitivesCreated()
{
    return createdPrimitives.load();
}

} // namespace mantissa

namespace mantissa::cpu {

const dnnl::engine& cpuEngine()
{
    static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    return engine;
}

void failDnnl(const std::string& what, dnnl_status_t status)
{
    const ErrorCode code = status == dnnl_out_of_memory ? ErrorCode::OutOfMemory : ErrorCode::BackendFailure;
    throw Error(code,
        "oneDNN could not " + what + " (status " + std::to_string(status)
            + "). Less memory use by other programs or a smaller batch may help.");
}

dnnl::primitive_attr userScratchpad()
{
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    return attributes;
}

DnnlCall::DnnlCall(std::string work, int threads)
    : m_work(std::move(work))
    , m_threads(threads)
    , m_stream(cpuEngine())
{
}

void DnnlCall::clearArguments()
{
    m_arguments.clear();
    m_memories.clear();
}

void DnnlCall::addArgument(int argument, const dnnl::memory::desc& description, void* data)
{
    m_memories.emplace_back(description, cpuEngine(), data);
    m_arguments.push_back({argument, m_memories.back().get()});
}

void DnnlCall::run() const
{
    const OmpThreads threads(m_threads);
    // The C function: the C++ one builds a vector of arguments for each call.
    const dnnl_status_t status = dnnl_primitive_execute(
        m_primitive.get(), m_stream.get(), static_cast<int>(m_arguments.size()), m_arguments.data());
    if (status != dnnl_success) {
        failDnnl("run " + m_work, status);
    }
}

void DnnlCall::countPrimitive()
{
    ++createdPrimitives;
}

} // namespace mantissa::cpu
