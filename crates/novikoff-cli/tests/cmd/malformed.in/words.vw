1 |f a b
not tech 1 2 |f c
