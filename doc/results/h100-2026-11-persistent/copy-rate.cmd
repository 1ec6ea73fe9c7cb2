tests/gpu/copy_rate M L XL
