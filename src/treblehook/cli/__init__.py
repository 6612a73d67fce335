"""The `treblehook` command lives here, one file per command; what a command does beyond reading its flags and showing results may not."""
