"""A layout held against data before sampling: what each latent will be informed by."""
