"""Success probabilities and derived nodes of items, also of new items, in bounded memory."""
