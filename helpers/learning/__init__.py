"""Training: the one trainer of the course."""
