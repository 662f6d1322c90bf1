yes |f a b:2
no |f c b:1
