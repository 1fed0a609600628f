"""Learning by neural networks: needs PyTorch (the extra ``deep``), and is imported only when asked for."""
