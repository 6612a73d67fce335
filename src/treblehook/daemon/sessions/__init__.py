"""The sessions of the daemon live here: opened, prompted, watched and ended over HTTP."""
