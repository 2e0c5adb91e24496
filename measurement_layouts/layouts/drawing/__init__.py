"""Diagrams of a layout with Graphviz, Mermaid and Matplotlib."""
