"""Where each subject stands on one latent, by likelihood, collapse, integration or sampling."""
