# The sources of the CUDA backend: nvcc compiles the kernels for the plug-in, and the tests compile the same files as C++.
set(MANTISSA_CUDA_KERNELS attention elementwise group layout losses norm reduce softmax windows)
list(TRANSFORM MANTISSA_CUDA_KERNELS REPLACE "(.+)" "${CMAKE_CURRENT_LIST_DIR}/kernels/\\1.cu")
set(MANTISSA_CUDA_SOURCES attention_ops cuda_backend cuda_call device_memory elementwise_ops group_ops kernel_table layout_ops
                          loss_ops matmul operands plugin row_ops window_ops)
list(TRANSFORM MANTISSA_CUDA_SOURCES REPLACE "(.+)" "${CMAKE_CURRENT_LIST_DIR}/\\1.cpp")
