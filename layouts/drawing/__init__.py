"""A layout drawn: Graphviz, Mermaid, Matplotlib, and its equations."""
