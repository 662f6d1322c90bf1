-1 |alpha w5 y:0.7 17 |beta:0.5 z | 3 v
1 |alpha w5 17:0.9 y |beta:0.5 17 x | 3 v
-1 |alpha x:1.2 z |beta:0.5 17 w5 | v u
-1 |alpha x:-0.3 w5 |beta:0.5 z | v
1 |alpha z:0.0 17 w5:-0.2 |beta:0.5 y z | v 3
-1 |alpha w5:0.4 z y:0.0 |beta:0.5  | 3
-1 |alpha 17 w5:0.8 |beta:0.5  | v
1 |alpha z:-0.8 y x:-0.4 |beta:0.5 z | u 3
-1 |alpha z w5 |beta:0.5 17 | v
1 |alpha w5 x z:0.9 |beta:0.5 y z | u
1 |alpha z x:0.1 y |beta:0.5  | 
1 |alpha z w5:0.5 |beta:0.5 x w5 | u
1 |alpha w5:-0.4 z |beta:0.5 z w5 | 3
-1 |alpha y:1.4 z:-0.4 17:1.1 |beta:0.5  | u v
-1 |alpha y:1.0 x |beta:0.5 z | 
-1 |alpha w5 |beta:0.5 w5 | 
1 |alpha x z:0.6 |beta:0.5 17 | v
1 |alpha 17:0.2 w5:0.4 |beta:0.5 w5 17 | v 3
-1 |alpha 17:-0.3 z:0.8 w5:1.4 |beta:0.5  | 
-1 |alpha w5:1.2 x:-0.1 |beta:0.5 x 17 | 
-1 |alpha y z |beta:0.5  | 3
-1 |alpha w5 |beta:0.5  | 
-1 |alpha y:0.7 x:1.3 |beta:0.5  | v
1 |alpha 17:1.5 |beta:0.5  | 
