"""The table of layers that the benchmarks time: shapes of published networks, one line each.

Every case calls C with arguments that are bound once, so that a time is the function's and not the wrapper's. An aim is the
target for the fastest level of a machine: a fraction of its multiply-add peak for layers that compute, microseconds on a
core whose peak is 118 GFLOP/s (scaled by the measured peak) for layers that move memory.
"""

from __future__ import annotations

from bench import overhead
from bench.cases.case import Case, Prepared
from bench.cases.few_bits import few_bits
from bench.cases.functions import functions
from bench.cases.layers import (
    convolution,
    deconvolution,
    dilated,
    grouped,
    inner_product,
    merged,
    oblong,
    of_layer,
    of_networks,
    recurrent,
)
from bench.cases.layout import channel_sum, convert, convert_filter, set_input, shuffle, winograd
from bench.cases.matrices import gemm, gemm_tile
from bench.cases.pointwise import (
    activation,
    add_8i,
    add_16b,
    channelwise,
    eltwise,
    lrn,
    softmax,
)
from bench.cases.small import convolution_8i, convolution_16b, pooling

__all__ = ["CASES", "FUNCTIONS", "Case", "Prepared", "of_layer", "of_networks"]

_PLAIN = ("add_bias", "scale", "prelu", "fused0", "fused1", "fused2", "fused3")


def _cases() -> list[Case]:
    pixels = 56 * 56
    return [
        pooling("max", "32f", "nhwc", "64x112x112", 3, 2, 1, 55),
        pooling("max", "32f", "nchw", "64x112x112", 3, 2, 1, 75),
        pooling("max", "32f", "nchw", "256x20x20", 5, 1, 2, 30),
        pooling("max", "32f", "nhwc", "256x20x20", 5, 1, 2),
        pooling("max", "8u", "nchw", "64x112x112", 3, 2, 1, 25),
        pooling("max", "8u", "nhwc", "64x112x112", 3, 2, 1),
        pooling("max", "16b", "nchw", "64x112x112", 3, 2, 1),
        pooling("max", "16b", "nhwc", "64x112x112", 3, 2, 1),
        pooling("max", "32f", "nchw", "64x112x112", 2, 2, 0),
        pooling("max", "32f", "nhwc", "64x112x112", 2, 2, 0),
        pooling("max", "32f", "nchw", "64x57x57", 3, 3, 0),
        pooling("max", "32f", "nhwc", "3x224x224", 3, 2, 1),
        pooling("max", "32f", "nhwc", "64x56x56", 2, 1, 0),
        pooling("max", "32f", "nhwc", "64x56x56", 7, 1, 3),
        pooling("max", "8u", "nhwc", "64x56x56", 5, 2, 2),
        pooling("avg", "32f", "nchw", "192x35x35", 3, 1, 1, 45),
        pooling("avg", "32f", "nhwc", "192x35x35", 3, 1, 1),
        pooling("avg", "32f", "nchw", "1280x7x7", 7, 1, 0, 6),
        pooling("avg", "32f", "nhwc", "1280x7x7", 7, 1, 0),
        pooling("avg", "16b", "nchw", "192x35x35", 3, 1, 1),
        pooling("avg", "16b", "nhwc", "192x35x35", 3, 1, 1),
        pooling("avg", "16b", "nhwc", "1280x7x7", 7, 1, 0),
        activation("Relu", 64 * pixels, 0, aim_us=18),
        activation("Relu", 1000, 0),
        activation("Hswish", 64 * pixels, 3, 1 / 6, aim_us=18),
        activation("RestrictRange", 64 * pixels, 0, 6, aim_us=18),
        activation("Elu", 64 * pixels, 1, aim_us=30),
        activation("Sigmoid", 64 * pixels, 1, aim_us=33),
        activation("Tanh", 64 * pixels, 1, aim_us=35),
        activation("Softplus", 64 * pixels, 1, 20, aim_us=45),
        activation("Sigmoid", 49, 1),
        *[channelwise(layer, layout, 64, pixels, 18) for layer in _PLAIN for layout in ("nchw", "nhwc")],
        *[channelwise("fused8", layout, 64, pixels, 26) for layout in ("nchw", "nhwc")],  # reads twice as much
        *[channelwise(layer, layout, 32, pixels, 18) for layer in ("fused4",) for layout in ("nchw", "nhwc")],
        *[channelwise(layer, layout, 32, pixels, 18) for layer in ("fused9",) for layout in ("nchw", "nhwc")],
        *[channelwise(layer, "nhwc", c, 224 * 224) for layer in ("add_bias", "scale", "fused1", "fused9") for c in (1, 3)],
        *[channelwise(layer, "nchw", c, s) for layer in ("add_bias", "scale", "fused1") for c, s in ((512, 49), (1280, 7))],
        add_8i("nchw", 64, pixels, 16),
        add_8i("nhwc", 64, pixels, 16),
        add_8i("nhwc", 64, pixels, 16, shift=0),
        add_8i("nchw", 512, 49),
        add_8i("nchw", 1280, 7),
        add_8i("nhwc", 3, 224 * 224),
        add_16b("16b 16b 16b", 64 * pixels, 13),
        add_16b("32f 32f 32f", 64 * pixels),
        add_16b("32f 16b 16b", 64 * pixels),
        softmax(pixels, 64, 1, 45),
        softmax(1, 64, pixels, 50),
        softmax(1, 1000, 1),
        softmax(1000, 10, 1),
        softmax(1000, 21, 1),
        softmax(1000, 100, 1),
        convert("nchw", "nhwc", 64, pixels),
        convert("nhwc", "nchw", 64, pixels),
        convert("nchw", "nhwc", 3, 224 * 224),
        convert_filter("oiyx", "yxio", 64, 64, 9),
        convert_filter("oiyx", "yxio", 512, 512, 9),
        convert_filter("yxio", "oiyx", 256, 256, 9),
        convert_filter("oiyx", "oyxi16o", 256, 256, 9),
        convert_filter("yxio", "oyxi16o", 256, 256, 9),
        set_input("bgr24", "nchw", 3, 224, 224),
        set_input("rgb24", "nhwc", 3, 224, 224),
        set_input("rgb24", "nhwc", 3, 224, 224, 96),
        set_input("bgra32", "nchw", 3, 224, 224),
        set_input("bgr24", "nchw", 1, 224, 224),
        set_input("bgr24", "nhwc", 3, 1920, 1080),
        set_input("rgb24", "nchw", 3, 1920, 1080),
        shuffle("nchw", 64, 64, pixels),
        shuffle("nhwc", 64, 64, pixels),
        shuffle("nhwc", 116, 116, 28 * 28),
        shuffle("nchw", 464, 464, 49),
        shuffle("nhwc", 4, 4, pixels),
        eltwise("sum", 2, 64 * pixels, 26),
        eltwise("max", 2, 64 * pixels, 26),
        eltwise("product", 3, 64 * pixels, 34),
        eltwise("sum", 8, 64 * pixels),
        eltwise("sum", 2, 49),
        lrn("nchw", 64, pixels, 5, aim_us=60),
        lrn("nhwc", 64, pixels, 5, aim_us=60),
        lrn("nhwc", 64, pixels, 5, 0.6),
        lrn("nchw", 96, 55 * 55, 11),
        lrn("nchw", 256, 27 * 27, 5),
        lrn("nhwc", 3, pixels, 5),
        lrn("nchw", 512, 7, 5),
        *[channel_sum(layout, *shape) for layout in ("nchw", "nhwc") for shape in ((64, pixels), (512, 49))],
        inner_product(4096, 4096),
        inner_product(1000, 1280),
        recurrent("lstm", 40, 512, 256, 2),
        recurrent("gru", 40, 512, 256, 2),
        recurrent("lstm", 1, 128, 128),
        winograd("nhwc", "Kernel3x3Block4x4", 64, 56),
        winograd("nchw", "Kernel3x3Block4x4", 64, 56),
        winograd("nhwc", "Kernel3x3Block2x2", 512, 7),
        gemm("NN", 1024, 1024, 1024, 0.95),
        gemm("NT", 1024, 1024, 1024, 0.95),
        gemm("NN", 49, 512, 4608, 0.92),
        gemm("NT", 49, 512, 4608, 0.92),
        gemm("NN", 1, 1000, 1280),
        gemm("NN", 64, 64, 64),
        gemm_tile(56, 64, 256),
        gemm_tile(56, 64, 1024),
        gemm_tile(168, 192, 512),
        convolution("nhwc", "64x56x56", 64, 1, aim=0.96),
        convolution("nhwc", "64x56x56", 64, 3, aim=3.0),
        convolution("nchw", "64x56x56", 64, 3, aim=2.6),
        convolution("nhwc", "256x14x14", 256, 3, aim=2.3),
        convolution("nhwc", "512x7x7", 512, 3, aim=1.6),
        convolution("nhwc", "256x56x56", 512, 1, 2, aim=0.95),
        convolution("nhwc", "3x224x224", 64, 7, 2, aim=0.95),
        convolution("nhwc", "3x224x224", 32, 3, 2, aim=0.90),
        convolution("nhwc", "32x112x112", 0, 3, aim=0.75),
        convolution("nhwc", "96x112x112", 0, 3, 2, aim=0.60),
        convolution("nhwc", "120x28x28", 0, 5, aim=0.80),
        convolution("nhwc", "16x112x112", 96, 1, aim=0.92),
        convolution("nhwc", "32x208x208", 64, 3, 2, aim=0.94),
        *[
            grouped(layout, shape, int(shape.split("x")[0]), 32)
            for layout in ("nhwc", "nchw")
            for shape in ("128x56x56", "256x14x14", "512x28x28")
        ],
        dilated("nhwc", "256x28x28", 256, 2),
        dilated("nchw", "256x28x28", 256, 2),
        dilated("nhwc", "64x56x56", 64, 4),
        dilated("nhwc", "320x32x32", 256, 6),
        *[oblong("nhwc", "64x48x320", 64, *kernel) for kernel in ((1, 3), (3, 1), (1, 5), (5, 1))],
        oblong("nhwc", "192x17x17", 192, 1, 3),
        oblong("nchw", "192x17x17", 192, 3, 1),
        convolution("nhwc", "64x28x28", 64, 5),
        convolution("nchw", "64x28x28", 64, 5),
        convolution("nhwc", "32x56x56", 32, 7),
        *[
            convolution(layout, shape, 0, kernel)
            for layout in ("nhwc", "nchw")
            for shape, kernel in (("96x56x56", 7), ("384x14x14", 7), ("32x112x112", 9))
        ],
        dilated("nhwc", "192x28x28", 0, 2),
        dilated("nhwc", "64x56x56", 0, 4),
        convolution_8i("nhwc", "64x56x56", 64, 1, aim=0.80),
        convolution_8i("nhwc", "256x56x56", 64, 1, aim=0.80),
        convolution_8i("nhwc", "64x56x56", 256, 1, aim=0.80),
        convolution_8i("nhwc", "512x28x28", 128, 1, aim=0.85),
        convolution_8i("nhwc", "128x28x28", 512, 1, aim=0.85),
        convolution_8i("nhwc", "1024x14x14", 256, 1, aim=0.85),
        convolution_8i("nhwc", "2048x7x7", 512, 1, aim=0.85),
        convolution_8i("nhwc", "512x7x7", 2048, 1, aim=0.85),
        convolution_8i("nhwc", "64x56x56", 64, 3, aim=0.80),
        convolution_8i("nhwc", "128x28x28", 128, 3, aim=0.85),
        convolution_8i("nhwc", "128x56x56", 128, 3, 2, aim=0.85),
        convolution_8i("nhwc", "256x14x14", 256, 3, aim=0.85),
        convolution_8i("nhwc", "512x7x7", 512, 3, aim=0.85),
        convolution_8i("nchw", "64x56x56", 64, 3),
        convolution_8i("nhwc", "3x224x224", 64, 7, 2),
        *[convolution_8i("nhwc", shape, 0, 3) for shape in ("32x112x112", "144x56x56", "192x28x28", "384x14x14", "960x7x7")],
        *[convolution_8i("nhwc", shape, 0, 3, 2) for shape in ("96x112x112", "144x56x56", "576x14x14")],
        *[
            convolution_16b(layout, shape, o, kernel, stride)
            for layout in ("nhwc", "nchw")
            for shape, o, kernel, stride in (
                ("64x56x56", 64, 1, 1),
                ("256x56x56", 64, 1, 1),
                ("64x56x56", 256, 1, 1),
                ("256x56x56", 512, 1, 2),
                ("512x28x28", 128, 1, 1),
                ("128x28x28", 512, 1, 1),
                ("1024x14x14", 256, 1, 1),
                ("2048x7x7", 512, 1, 1),
                ("512x7x7", 2048, 1, 1),
                ("128x56x56", 128, 3, 2),
                ("256x28x28", 256, 3, 2),
                ("64x56x56", 64, 3, 1),
                ("128x28x28", 128, 3, 1),
                ("512x7x7", 512, 3, 1),
            )
        ],
        *[convolution_16b("nhwc", shape, 0, 3) for shape in ("32x112x112", "384x14x14")],
        convolution_16b("nhwc", "3x224x224", 64, 7, 2),
        merged("16x112x112", 96, 2, 24, aim=0.92),
        merged("24x56x56", 144, 1, 24, aim=0.90),
        merged("160x7x7", 960, 1, 160, aim=0.96),
        # the other blocks of MobileNetV2
        merged("32x112x112", 0, 1, 16),
        merged("24x56x56", 144, 2, 32),
        merged("32x28x28", 192, 1, 32),
        merged("32x28x28", 192, 2, 64),
        merged("64x14x14", 384, 1, 64),
        merged("64x14x14", 384, 1, 96),
        merged("96x14x14", 576, 1, 96),
        merged("96x14x14", 576, 2, 160),
        merged("160x7x7", 960, 1, 320),
        # those of MobileNetV1
        merged("32x112x112", 0, 1, 64),
        merged("64x112x112", 0, 2, 128),
        merged("128x56x56", 0, 1, 128),
        merged("128x56x56", 0, 2, 256),
        merged("256x28x28", 0, 1, 256),
        merged("256x28x28", 0, 2, 512),
        merged("512x14x14", 0, 1, 512),
        merged("512x14x14", 0, 2, 1024),
        merged("1024x7x7", 0, 1, 1024),
        deconvolution("nhwc", "128x28x28", 64, 2, 2, aim=0.97),
        deconvolution("nhwc", "21x34x34", 21, 4, 2, 1, aim=0.80),
        deconvolution("nchw", "64x28x28", 32, 3, 1, 1, aim=1.8),
        *[
            deconvolution(layout, f"{2 * c}x{size}x{size}", c, 2, 2)
            for c, size in ((128, 14), (64, 28), (32, 56), (16, 112))
            for layout in ("nhwc", "nchw")
            if (layout, c) != ("nhwc", 64)
        ],
        *[deconvolution(layout, "128x16x16", 64, 4, 2, 1) for layout in ("nhwc", "nchw")],
        *[deconvolution(layout, "64x32x32", 32, 3, 2, 1) for layout in ("nhwc", "nchw")],
        deconvolution("nhwc", "64x32x32", 32, 5, 2, 2),
        deconvolution("nhwc", "100x1x1", 512, 4, 1),
        deconvolution("nchw", "21x34x34", 21, 4, 2, 1),
        deconvolution("nchw", "64x56x56", 64, 4, 2, 1, group=64),
    ]


def _overhead(row: overhead.Row) -> Case:
    """The overhead of Python per call; the limit, a copy of the 16 floats, is not meaningful."""
    return Case("overhead", row.name, "-", lambda: Prepared(row.call, row.empty, traffic=128), aim_us=row.aim_us)


#: The cases of functions, which have a page of their own.
FUNCTIONS: list[Case] = [*functions(), *few_bits()]

#: Every case, in the order of the report.
CASES: list[Case] = [*_cases(), *FUNCTIONS, *map(_overhead, overhead.rows())]
