"""Expected information of items about a profile, without outcomes."""
