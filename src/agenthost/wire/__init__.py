"""What travels: typed values of both protocols, their encoding and decoding. Knows no state and no host."""
