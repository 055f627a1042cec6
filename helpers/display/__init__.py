"""Figures, widgets, quizzes and live curves for the notebooks."""
