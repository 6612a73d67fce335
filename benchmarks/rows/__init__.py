"""One file for each row of the table, in the order of their names; each has `measure`, and states its limit."""
