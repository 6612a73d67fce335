"""Foreign code is executed here, inside limits, one folder for each kind; nothing here may know a contract, an event or a host."""
