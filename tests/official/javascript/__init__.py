"""
Official JavaScript clients against the mock provider.
"""
