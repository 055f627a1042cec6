"""Notebooks are kept in order: their rules, stored outputs, and the course's public address."""
