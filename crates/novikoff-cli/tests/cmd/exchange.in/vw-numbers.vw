2.39 |alpha x:0.5 y:1.3 |beta:0.5 z | u
4.87 |alpha z:2.0 |beta:0.5  | v
0.9 |alpha w5 |beta:0.5 x y | 3 u
6.03 |alpha y w5 |beta:0.5 w5 y | 3 v
7.82 |alpha z x:0.2 |beta:0.5 z | v u
5.7 |alpha z 17 x:1.3 |beta:0.5 y 17 | 
4.71 |alpha y w5:1.4 |beta:0.5 17 x | u 3
1.22 |alpha w5 |beta:0.5  | v
2.1 |alpha 17 |beta:0.5 z | u
6.25 |alpha x |beta:0.5 x w5 | u 3
8.39 |alpha 17 |beta:0.5  | u
0.98 |alpha 17:-0.4 |beta:0.5  | u
4.26 |alpha w5 |beta:0.5  | u v
0.21 |alpha 17:1.7 w5 |beta:0.5 z | v
3.25 |alpha y x:0.1 |beta:0.5 w5 | 
1.43 |alpha y |beta:0.5 y x | 
0.99 |alpha 17:-0.8 |beta:0.5  | u
2.86 |alpha x:-0.9 |beta:0.5 x | 
2.17 |alpha 17:0.9 y:-0.6 |beta:0.5  | u v
8.83 |alpha z:-0.2 17 |beta:0.5 z w5 | 
0.51 |alpha x:1.0 w5:0.5 |beta:0.5 x | 
5.89 |alpha y:0.4 17:1.0 |beta:0.5 z | v u
0.79 |alpha y:0.2 17:1.0 |beta:0.5 y | v u
7.52 |alpha z y:0.3 17 |beta:0.5 z | 
