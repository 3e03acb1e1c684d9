"""Times the library's functions on real layer shapes, as fractions of what the machine can do.

``python -m pysimd.bench --help`` tells the options; ``make bench`` runs the whole table.

* ``cases``: the table of layers, one line each, and how each is called.
* ``layers``: what a layer is; ``graph``: networks of them; ``models``: the published ones.
* ``limits``: what the machine can do: multiply-adds per second, bytes copied per second.
* ``peers``: other libraries, computing the same layers.
* ``runner``: takes the times, of a case, of its limit and of peers in turn.
* ``report``: the table a person reads and the JSON a program reads.
"""
