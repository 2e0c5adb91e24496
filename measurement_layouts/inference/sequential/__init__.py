"""Updates of posteriors with new outcomes, also after each answer of one subject."""
