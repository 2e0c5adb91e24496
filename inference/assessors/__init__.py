"""Assessors: what foresees who succeeds on items held out, and how well."""
