"""From a skeleton to directions, by independence tests."""
