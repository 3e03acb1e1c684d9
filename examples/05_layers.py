"""Plain layers in sequence: a picture becomes a tensor, is scaled, activated, normalized and turned into probabilities."""

import numpy as np

import pysimd

rng = np.random.default_rng(0)
photo = rng.integers(0, 256, (240, 320, 3), np.uint8)  # RGB, as most libraries read pictures

# A part of the picture, without copying it: blue, green, red, each from -1 to 1.
x = pysimd.set_input(photo[8:232, 48:272], pixel_format="rgb24", lower=-1, upper=1, layout="nhwc")
print("input", x.shape, "from", x.min(), "to", x.max())

# One coefficient for each channel; out=x works in place.
pysimd.scale(x, np.array([0.5, 1, 2], np.float32), np.array([0, 0.1, 0.2], np.float32), out=x)
pysimd.prelu(x, np.full(3, 0.25, np.float32), out=x)
y = pysimd.lrn(x, size=5, alpha=1e-4, beta=0.75, bias=1, layout="nhwc")

# Elementwise functions, sums of tensors, softmax along any axis.
gate = pysimd.sigmoid(y)
z = pysimd.eltwise([y, gate], "product")  # x * sigmoid(x)
p = pysimd.softmax(z, axis=-1)
print("the most probable channel of the first pixels:", p[0, :5].argmax(-1))
print("sums of probabilities are 1:", bool(np.allclose(p.sum(-1), 1)))

# Other layouts than NumPy's usual one: the same numbers in planes, and in blocks of 8 channels.
planes = pysimd.convert_image(z, src_layout="nhwc", dst_layout="nchw")
blocks = pysimd.convert_image(z, src_layout="nhwc", dst_layout="nchw8c")
same = pysimd.convert_image(pysimd.tanh(blocks), src_layout="nchw8c", dst_layout="nchw", channels=3)
print("the layout does not matter:", np.array_equal(same, pysimd.tanh(planes)))

# Output:
#
#   input (224, 224, 3) from -1.0 to 1.0
#   the most probable channel of the first pixels: [2 0 1 2 2]
#   sums of probabilities are 1: True
#   the layout does not matter: True
