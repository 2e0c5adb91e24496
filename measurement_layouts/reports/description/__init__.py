"""Cognitive profiles in plain language: what is strong, weak, one-sided, noisy or not known."""
