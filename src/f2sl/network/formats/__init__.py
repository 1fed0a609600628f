"""Networks in files, a format each: ``bif_*``, ``json_file``, ``xmlbif_file``, ``hugin_file``, ``xdsl_file``.

``draft`` is shared by formats with variables and blocks of numbers, ``xml`` by formats in XML.
:mod:`f2sl.network.files` has the registry.
"""
