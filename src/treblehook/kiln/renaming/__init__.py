"""Moving a note lives here: which links lead to it, what they become, and that all of it happens or nothing."""
