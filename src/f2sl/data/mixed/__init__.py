"""Tables with columns of both kinds."""
