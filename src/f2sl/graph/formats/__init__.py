"""The file formats of graphs, one module each, with a ``write`` and a ``read``.

``write(graph)`` yields pieces of text; ``read(content)`` takes a file's bytes and
raises :class:`~f2sl.graph.formats.common.FormatError`, with the line where it is known.
"""
