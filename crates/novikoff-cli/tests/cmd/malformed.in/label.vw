1 |f a b
|f c
