"""The subcommands, one module each; every module exposes its `command`."""
