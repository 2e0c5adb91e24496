"""What every other package may use: errors, messages, options, digits, files, seeds."""
