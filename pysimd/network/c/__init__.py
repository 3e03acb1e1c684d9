"""Models as programs in C: ``program`` writes the files, ``open`` those with open sizes, ``course`` models in which values
decide; ``calls`` the text of each call, ``memory`` the constants, ``templates`` what all programs have in common."""
