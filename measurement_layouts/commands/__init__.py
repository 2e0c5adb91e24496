"""The commands of ``measurement-layouts``."""
