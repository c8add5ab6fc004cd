"""What answers over HTTP: the mock provider. Needs the extra `server`."""
