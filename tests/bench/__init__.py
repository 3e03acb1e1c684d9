"""Times the library's functions on real layer shapes, as fractions of what the machine can do.

A tool for development, not a part of the package. ``make bench`` runs the whole table, and lists its options with
``BENCH_FLAGS=--help``. Without make: ``PYTHONPATH=.:tests python -m bench``.

* ``cases``: the table of layers, one line each, and how each is called.
* ``layers``: what a layer is; ``models``: the published networks, as graphs of ``pysimd.network``.
* ``limits``: what the machine can do: multiply-adds per second, bytes copied per second.
* ``peers``: other libraries, computing the same layers.
* ``runner``: takes the times, of a case, of its limit and of peers in turn.
* ``report``: the table a person reads and the JSON a program reads.
"""
