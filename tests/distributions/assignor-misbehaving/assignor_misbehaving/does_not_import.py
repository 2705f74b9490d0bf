"""An entry point whose import fails."""

raise ImportError("no module named \x1b[31mflux_capacitor")
