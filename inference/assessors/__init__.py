"""Assessors: forests and layouts that foresee who succeeds on items held out."""
