"""Models in which values decide: ``partition`` cuts them into parts, ``course`` runs these, ``control`` has branches and
loops, ``host_operators`` what Python computes, ``runner`` all of it for users."""
