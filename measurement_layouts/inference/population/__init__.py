"""Joint fits, in which subjects share values: their tables, forecasts and new subjects."""
