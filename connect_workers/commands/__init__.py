"""Commands of live workers under ``assignor connect``, one file each; `assignor_lab.cli.connect` finds them by name."""
