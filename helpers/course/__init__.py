"""The course as a whole: its root, working copies, checks of tasks, quizzes and predictions."""
