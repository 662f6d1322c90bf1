1 |f a b
-1 |f café
