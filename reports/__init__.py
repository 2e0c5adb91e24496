"""Reports: a fit on one page to hand on, as HTML or Markdown, and its tables as CSV."""
