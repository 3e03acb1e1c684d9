"""Times the library's functions on real layer shapes, as fractions of what the machine can do.

``python -m pysimd.bench --help`` tells the options; ``make bench`` runs the whole table.

* ``cases``: the table of layers, one line each.
* ``limits``: what the machine can do: multiply-adds per second, bytes copied per second.
* ``runner``: takes the times, of a case and of its limit in turn.
* ``report``: the table a person reads and the JSON a program reads.
"""
