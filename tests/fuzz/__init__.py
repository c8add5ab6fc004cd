"""
Streams that no provider sends, fed to the decoder of each dialect for any length of time: `python -m tests.fuzz`.
"""
