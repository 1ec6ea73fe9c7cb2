as each of the lines behind $
