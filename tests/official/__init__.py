"""
Official clients of the provider against our mock of it, each in a process of its own.
"""
