"""A whole network, MobileNetV2: contexts are created once, calls are prepared once, each image runs the same calls."""

import time

import numpy as np

import pysimd

rng = np.random.default_rng(0)
stage = pysimd.ConvolutionStage
steps = []  # the calls that process an image


def random(*shape):
    """Weights that keep the magnitude of values about constant after a ReLU; a trained network has its own."""
    return rng.standard_normal(shape, np.float32) * np.float32(np.sqrt(2 / np.prod(shape[:-1])))


def then(function, x, *arguments, **options):
    """Adds a call. Its result is an array that is overwritten for each image, and that the next call reads."""
    steps.append(pysimd.prepare(function, x, *arguments, **options))
    return steps[-1].result


def convolution(x, outputs, kernel, stride=1):
    layer = pysimd.Convolution32f(x.shape, outputs, kernel=kernel, stride=stride, padding=kernel // 2, activation="relu6")
    layer.set_params(random(*layer.weight_shape))
    return then(layer.forward, x)


def block(x, expand, outputs, stride):
    """An inverted residual block: expansion to many channels, depthwise convolution, projection to few channels."""
    middle = stage(3, stride=stride, padding=1, activation="relu6")
    first = [stage(1, expand * x.shape[2], activation="relu6")] if expand > 1 else []
    stages = [*first, middle, stage(1, outputs)]
    shortcut = stride == 1 and x.shape[2] == outputs and expand > 1
    layer = pysimd.MergedConvolution32f(x.shape, stages, residual=shortcut)
    layer.set_params([random(*shape) for shape in layer.weight_shapes])
    return then(layer.forward, x)


image = np.empty((224, 224, 3), np.float32)  # the array that the first call reads
x = convolution(image, 32, kernel=3, stride=2)
blocks = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
for expand, outputs, count, stride in blocks:
    for i in range(count):
        x = block(x, expand, outputs, stride if i == 0 else 1)
x = convolution(x, 1280, kernel=1)
means = then(pysimd.pooling_average, x, kernel=x.shape[0]).reshape(-1)
x = then(pysimd.inner_product, means, random(1280, 1000).T.copy(), np.zeros(1000, np.float32))
probabilities = then(pysimd.softmax, x)


def classify(picture):
    image[...] = picture
    for step in steps:
        step()
    return probabilities


pictures = [rng.random(image.shape, np.float32) for _ in range(3)]
first = classify(pictures[0]).copy()
print(len(steps), "calls,", image.shape, "->", first.shape, "sum", round(float(first.sum()), 3))
print("another picture gives another result:", not np.array_equal(classify(pictures[1]), first))
print("the first picture again, bit-identical:", np.array_equal(classify(pictures[0]), first))
begin = time.perf_counter()
for _ in range(20):
    classify(pictures[2])
each = (time.perf_counter() - begin) / 20
print(f"{each * 1e3:.2f} ms an image with {pysimd.get_num_threads()} thread(s) on {pysimd.active_isa()}")

# Output:
#
#   22 calls, (224, 224, 3) -> (1000,) sum 1.0
#   another picture gives another result: True
#   the first picture again, bit-identical: True
#   ... ms an image with ... thread(s) on ...
