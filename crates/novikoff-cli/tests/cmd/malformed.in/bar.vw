1 |f a b
-1 c d
