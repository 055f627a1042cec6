"""The shared package of the course: the one polished copy of everything the notebooks build.

Folders are layers and imports go downwards only:
course > display > learning > inference > pretrained > models > data > the modules beside them.
"""
