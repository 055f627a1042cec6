"""The course as a whole: its root, its address, working copies, and refreshed outputs."""
