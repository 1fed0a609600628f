"""The command line, ``f2sl``.

======================  ==========================================================================
:mod:`~f2sl.cli.app`    ``main()``: from the arguments to an exit code
``commands``            the commands by name, which other packages may add to
``program``             the commands, put together
``learn``, ``pc``, ...  one command each
``options``             the options of learners: one table for all commands
``errors``              what goes wrong ends here, in one line
``interrupts``          Ctrl-C at any time, and nothing half-written
======================  ==========================================================================

Nothing is imported before it is needed: ``f2sl --help`` and ``f2sl compare`` never load Numba.
"""
