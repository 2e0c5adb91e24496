"""Design of batteries: the items that are expected to leave the least uncertainty."""
