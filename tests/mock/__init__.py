"""
Tests of the mock provider, spoken to as an ASGI app and over a real port.
"""
