"""From a layout and outcomes to profiles and forecasts; the only room that knows PyMC."""
