/// A oneDNN primitive that is created once and executed on fixed memory.
#pragma once

#include <dnnl.hpp>
#include <omp.h>

#include <string>
#include <vector>

namespace mantissa::cpu {

/// oneDNN reads the calling thread's OpenMP thread count both when it creates and when it executes.
class OmpThreads
{
public:
    explicit OmpThreads(int threads)
        : m_previous(omp_get_max_threads())
    {
        omp_set_num_threads(threads);
    }

    ~OmpThreads() { omp_set_num_threads(m_previous); }

    OmpThreads(const OmpThreads&) = delete;
    OmpThreads& operator=(const OmpThreads&) = delete;

private:
    int m_previous;
};

const dnnl::engine& cpuEngine();

/// `what` completes "oneDNN could not ...". Throws Error (OutOfMemory, BackendFailure).
[[noreturn]] void failDnnl(const std::string& what, dnnl_status_t status);

/// Scratch memory is the caller's (scratchpad_mode::user), so that nothing is allocated while running.
dnnl::primitive_attr userScratchpad();

class DnnlCall
{
public:
    /// `work` names it in errors: "a matrix product".
    DnnlCall(std::string work, int threads);

    /// Runs make(), which returns a primitive, with the right thread count and oneDNN's errors translated.
    template <typename Make> void create(Make make)
    {
        const OmpThreads threads(m_threads);
        try {
            m_primitive = make();
        } catch (const dnnl::error& error) {
            failDnnl("create " + m_work, error.status);
        }
        countPrimitive();
    }

    void clearArguments();
    void addArgument(int argument, const dnnl::memory::desc& description, void* data);
    /// Throws Error (BackendFailure).
    void run() const;

private:
    static void countPrimitive();

    std::string m_work;
    int m_threads;
    dnnl::stream m_stream;
    dnnl::primitive m_primitive;
    std::vector<dnnl::memory> m_memories;
    std::vector<dnnl_exec_arg_t> m_arguments;
};

} // namespace mantissa::cpu
