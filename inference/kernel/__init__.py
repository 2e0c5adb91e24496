"""Log-densities as machine code: each part of a layout computed once per distinct input."""
