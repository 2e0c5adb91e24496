"""Situational judgment tests made and run with language models, from statements to choices."""
