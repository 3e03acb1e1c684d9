"""The scorecard: the library's promises, each with the command that checks it and the figure that it gave.

``make scorecard`` runs the quick form of the rows, ``make scorecard FULL=1`` the long one; ``docs/scorecard.md`` has the
last results.
"""
