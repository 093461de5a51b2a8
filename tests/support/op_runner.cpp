#include "tests/support/op_runner.h"

#include "engine/backends/backend_registry.h"

namespace mantissa::test {

namespace {

std::unique_ptr<Buffer> uploaded(Backend& backend, Stream& stream, std::span<const std::byte> bytes)
{
    auto buffer = backend.allocate(bytes.size());
    stream.upload(buffer->data(), bytes.data(), bytes.size());
    return buffer;
}

template <typename T> std::unique_ptr<Buffer> uploadedValue(Backend& backend, Stream& stream, const T& value)
{
    return uploaded(backend, stream, std::as_bytes(std::span(&value, 1)));
}

} // namespace

KernelRequest OpCall::request() const
{
    KernelRequest out;
    out.op = op;
    out.attributes = attributes;
    out.threads = threads;
    for (const HostTensor& input : inputs) {
        out.inputs.push_back(input.type());
    }
    for (const OpOutput& output : outputs) {
        out.outputs.push_back(output.before.type());
    }
    return out;
}

bool hasCensus(const OpCall& call, std::size_t output)
{
    return call.op < Op::GradientNorm && call.op != Op::Reshape && isHalf(call.outputs.at(output).before.dtype());
}

OpResult runOp(Backend& backend, const OpCall& call)
{
    OpResult result;
    const auto stream = backend.createStream(call.threads);
    const auto kernel = backend.prepare(call.request());
    std::vector<std::unique_ptr<Buffer>> memory;
    KernelBinding binding;
    for (const HostTensor& input : call.inputs) {
        memory.push_back(uploaded(backend, *stream, input.bytes()));
        binding.inputs.push_back(memory.back()->data());
    }
    for (const OpOutput& output : call.outputs) {
        if (output.updates.has_value()) {
            binding.outputs.push_back(binding.inputs.at(*output.updates));
        } else {
            memory.push_back(uploaded(backend, *stream, output.before.bytes()));
            binding.outputs.push_back(memory.back()->data());
        }
    }
    const auto workspace = backend.allocate(kernel->workspaceBytes());
    binding.workspace = workspace->data();
    const auto census = uploadedValue(backend, *stream, result.census);
    const auto histogram = uploadedValue(backend, *stream, result.histogram);
    if (hasCensus(call)) {
        binding.census = static_cast<Census*>(census->data());
        binding.histogram = static_cast<ExponentHistogram*>(histogram->data());
    }
    result.moreCensus.resize(call.outputs.size() - 1);
    const auto more = uploaded(backend, *stream, std::as_bytes(std::span(result.moreCensus)));
    for (std::size_t i = 1; i < call.outputs.size(); ++i) {
        binding.moreCensus.push_back(hasCensus(call, i) ? static_cast<Census*>(more->data()) + i - 1 : nullptr);
    }
    stream->synchronize();
    kernel->bind(binding);
    kernel->run(*stream);
    for (std::size_t i = 0; i < call.outputs.size(); ++i) {
        result.outputs.push_back(call.outputs[i].before);
        const auto bytes = result.outputs.back().bytes();
        stream->download(bytes.data(), binding.outputs[i], bytes.size());
    }
    stream->download(&result.census, census->data(), sizeof(Census));
    stream->download(result.moreCensus.data(), more->data(), result.moreCensus.size() * sizeof(Census));
    stream->download(&result.histogram, histogram->data(), sizeof(ExponentHistogram));
    stream->synchronize();
    return result;
}

std::vector<HostTensor> exactOutputs(const OpCall& call)
{
    OpCall exact = call;
    for (OpOutput& output : exact.outputs) {
        output.updates.reset();
        if (output.before.dtype() != DType::UInt8) {
            output.before = output.before.as(DType::Float64);
        }
    }
    return runOp(backendByName("reference"), exact).outputs;
}

} // namespace mantissa::test
