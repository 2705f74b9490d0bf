"""An entry point with a failing import."""

raise ImportError("no module named \x1b[31mflux_capacitor")
