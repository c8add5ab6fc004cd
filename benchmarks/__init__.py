"""
What the library costs, as multiples of work that cannot be avoided.

`python -m benchmarks` answers every question, `python -m benchmarks NAME...` some of them; README.md explains how to
read the table. Nothing here is imported by the library.
"""
