"""HTTP clients of providers. Each is a package of its own and needs the extra `http`."""
