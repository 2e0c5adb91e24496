"""Log-densities as machine code, which computes each part of a layout once per distinct input."""
