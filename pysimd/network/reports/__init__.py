"""Where the time of a model goes: ``report`` measures its steps, ``page`` writes it as HTML, of the pieces in ``pages``."""
