"""Learning by neural networks; needs PyTorch (the extra ``deep``), and is imported only when it is asked for."""
