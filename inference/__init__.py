"""From a layout and outcomes to profiles and forecasts, with PyMC."""
