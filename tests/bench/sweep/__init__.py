"""Layers drawn at random from what networks use, each beside other libraries: finds the layers that are far behind.

* ``draw``: the layers, each determined by a seed and an index.
* ``table``: times them, and lists the worst.
"""
