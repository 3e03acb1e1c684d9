"""The second reference: what each function computes, in NumPy, written from the documentation and not from the C code.

Everything is slow and simple. Results that must be exact are computed in the element type; the others in float64, together
with a bound on the error of float32 arithmetic in any order. Images are (C, H, W) here; to_chw() and from_chw() convert them
from and to a layout.
"""

# ruff: noqa: F403 - a formula is in the file of its family alone
from support.reference.elementwise import *
from support.reference.gathering import *
from support.reference.layouts import *
from support.reference.numbers import *
from support.reference.pooling import *
from support.reference.products import *
from support.reference.recurrent import *
from support.reference.winograd import *
