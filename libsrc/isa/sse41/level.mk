FLAGS_sse41 := -msse4.1
# For processors made before 2013: small code rather than the fastest, as V_COMPACT in the kernels. By -Os these kernels take up to
# 1.18 times as long by geometric mean; others, among them tiles of floats, took 1.2 to 1.4 times.
COMPACT_sse41 := activation binary channelwise depthwise/% gemm/16b gemm/8i grouped_nhwc_32f layout normalize pooling/% resize softmax \
                 unary vectors winograd
