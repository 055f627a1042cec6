"""Where to read on. A test compares all pointers with the headings of the notebooks."""


def see(number: int, heading: str) -> str:
    """A sentence that names a heading of a notebook.

    Args:
        number: of the notebook.
        heading: without its own number, √ for a root: "Why divide by √d_k".
    """
    return f"Notebook {number:02}, '{heading}'."
