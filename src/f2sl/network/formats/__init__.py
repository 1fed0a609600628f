"""Networks in files, a format each: ``bif_*``, ``json_file``, ``xmlbif_file``, ``hugin_file``, ``xdsl_file``.

What formats with variables and blocks of numbers share is in ``draft``, what those in XML share in ``xml``.
:mod:`f2sl.network.files` has the registry.
"""
