"""Labs for assistants and maintainers: made from one source, released, and marked by nbgrader."""
