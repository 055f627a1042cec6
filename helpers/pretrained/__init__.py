"""Models and data that others published, from packages that the ordinary index carries.

None of it is needed: where a thing is not there, ``find`` says None, and ``missing`` in a sentence
what it is and which command brings it. See ``helpers.pretrained.store``.
"""
