"""Run many jobs in processes of their own, with limits of time and memory, and store each result at once.

``f2sl reproduce`` and the benchmarks of accuracy and of other libraries run on this. A job has a *key*, such
as a learner and a data set; a :class:`~f2sl_paper.harness.job.Work` says what running it means.

============  ===============================================================================
``job``       work, limits, measurements, ends of jobs, and their storage
``schedule``  which jobs are left, given earlier results, and which are not worth trying
``runner``    hands out jobs and has each result stored
``server``    the process that starts a process for each job and stops it at its limits
``progress``  how far a run has come and how long the rest takes
``lines``     results in a file of JSON lines
``machine``   the machine, versions, memory and time
============  ===============================================================================
"""
