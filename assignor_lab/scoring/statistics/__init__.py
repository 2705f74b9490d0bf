"""Statistics of a run: paired differences with intervals, distributions, worst cases.

Import the modules: intervals and differences need the extra ``statistics``, distributions and worst cases do not.
"""
