"""Success probabilities and derived nodes of items, run or not; memory stays bounded."""
