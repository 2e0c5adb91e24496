"""Code that all other packages may use: errors, messages, options, digits, files, seeds."""
