"""The files of a kiln live here: which of them are notes, how they are found and read; what is in them may not."""
