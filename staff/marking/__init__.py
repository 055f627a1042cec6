"""Labs are marked: by nbgrader's autograder, each submission in a sandbox."""
