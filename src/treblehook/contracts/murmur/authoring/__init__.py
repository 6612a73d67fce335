"""What an author of murmur hooks needs lives here: from a source file to a component to a package, and firing one event at it to see what
it says. Running hooks in a session may not."""
