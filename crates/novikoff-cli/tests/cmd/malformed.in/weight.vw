1 |f a b
-1 -2 |f c
