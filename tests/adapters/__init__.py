"""
Tests of the decoders, and the notation in which their streams are written.
"""
