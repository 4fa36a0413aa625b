"""The demo: trains, then serves TensorBoard. `python -m demo --help`."""
