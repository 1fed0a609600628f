"""Run many jobs in processes of their own, with limits of time and memory, and keep each result at once.

``f2sl reproduce`` and the benchmarks of accuracy and of other libraries run on this. A *job* has a key, such
as a learner and a data set, and a :class:`~f2sl.experiments.harness.job.Work` says what running it means.

============  ==========================================================================================
``job``       work, limits, what a job measured and how it ended
``schedule``  which jobs are left, given earlier results, and which are not worth trying
``runner``    starts the server, hands out jobs and has each result kept as it comes
``server``    the process that starts a process for each job and stops it at its limits
``progress``  how far a run has come and how long the rest takes
``lines``     results in a file of JSON lines
``machine``   the machine, versions, memory and time
============  ==========================================================================================
"""
