"""What every request passes, whatever it is about, lives here: connections, the edge, answers, the document of the routes."""
