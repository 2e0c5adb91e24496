"""The commands of ``measurement-layouts``, each beside what it needs."""
