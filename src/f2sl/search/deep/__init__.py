"""Neural networks: need PyTorch (the extra ``deep``); imported only on use."""
