"""Staff's tools: labs are authored and marked with them, and notebooks are kept in order.

The package may import ``helpers``; nothing in ``helpers`` and no notebook imports it.
"""
