"""The course as a whole: its root, the machine, working copies, and the labs' checks."""
