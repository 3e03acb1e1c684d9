"""Times the library's functions on real layer shapes, as fractions of the machine's limits.

A tool for development, not a part of the package. ``make bench`` runs the whole table, and lists its options with
``BENCH_FLAGS=--help``. Without make: ``PYTHONPATH=.:tests python -m bench``.

* ``cases``: the table of layers, one line each, and how each is called.
* ``layers``: what a layer is; ``models``: the published networks, as graphs of ``pysimd.network``.
* ``limits``: the limits of the machine: multiply-adds per second, bytes copied per second.
* ``peers``: other libraries, computing the same layers.
* ``runner``: measures times, alternating between a case, its limit and peers.
* ``report``: the table for people and the JSON for programs.
"""
