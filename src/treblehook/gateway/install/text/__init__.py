"""JSON that belongs to somebody else is edited here as text: comments, order and indentation stay; what an agent is may not be known."""
