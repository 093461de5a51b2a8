// The loss scale, which a device moves by itself.
#include "engine/backends/cuda/kernel_factories.h"
#include "engine/backends/cuda/kernels/kernels.h"
#include "engine/backends/cuda/launch_kernel.h"
#include "engine/backends/cuda/operands.h"

namespace mantissa::cuda {

std::unique_ptr<Kernel> makeScaler(const KernelRequest& request, const Context& /*context*/)
{
    for (const auto* operands : {&request.inputs, &request.outputs}) {
        for (const TensorType& type : *operands) {
            requireElements(request, type, 1);
        }
    }
    return makeLaunch([](const KernelBinding& b, cudaStream_t stream) {
        runScaler({constantIn<float>(b, 0), constantIn<double>(b, 1), constantIn<double>(b, 2),
                      constantIn<double>(b, 3), constantIn<float>(b, 4)},
            {constantIn<float>(b, 5), constantIn<double>(b, 6), constantIn<float>(b, 7), constantIn<float>(b, 8)},
            {outputAs<float>(b, 0), outputAs<double>(b, 1), outputAs<float>(b, 2), outputAs<float>(b, 3)}, stream);
    });
}

} // namespace mantissa::cuda
