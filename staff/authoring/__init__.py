"""Labs are made: from one source each, for everyone or for a class with a secret."""
