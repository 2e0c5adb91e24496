def to_mermaid(layout): return ""
