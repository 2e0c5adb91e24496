def to_latex(layout): return ""
