1 |alpha x:1.9 |beta:0.5 x 17 | 3
2 |alpha z:0.2 |beta:0.5 z | 3
2 |alpha x y |beta:0.5 x | 3 v
2 |alpha w5 17:1.7 |beta:0.5  | v
2 |alpha z:-0.9 17:-0.2 w5 |beta:0.5 y | 3
1 |alpha z:1.1 w5 |beta:0.5 w5 17 | 3 u
3 |alpha x:1.3 w5:-0.7 y:1.6 |beta:0.5  | 
2 |alpha x |beta:0.5 17 z | u 3
1 |alpha w5 y:0.7 x |beta:0.5 y x | 
1 |alpha y 17 z:0.8 |beta:0.5 w5 | 3
2 |alpha y 17:0.7 z |beta:0.5 17 y | u 3
1 |alpha 17 |beta:0.5 w5 17 | v 3
1 |alpha y w5:-0.3 |beta:0.5 w5 z | v u
3 |alpha w5:-0.2 z x:0.7 |beta:0.5  | u
1 |alpha 17:1.5 y |beta:0.5 x 17 | 3 u
3 |alpha 17 |beta:0.5  | v 3
1 |alpha y w5:0.9 |beta:0.5 x z | 
1 |alpha y:1.4 17:-0.2 |beta:0.5 x | u
3 |alpha z:0.3 x:-0.4 17 |beta:0.5 17 | 
3 |alpha x:0.3 z:0.6 |beta:0.5 x | v u
3 |alpha 17 z |beta:0.5 x | v
3 |alpha w5:0.1 x z |beta:0.5 y w5 | 
2 |alpha 17 x:-0.0 w5 |beta:0.5 17 z | 3 u
2 |alpha y:-0.5 x |beta:0.5 17 z | 
