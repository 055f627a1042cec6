"""Language models and their parts, one concept per module."""
