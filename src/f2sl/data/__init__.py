"""Tables: read from files, frames and arrays, typed, encoded and held, and the engines that count them."""
