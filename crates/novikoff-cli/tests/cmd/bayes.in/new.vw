 |w cheap pills
 |w lunch offer
 |w unheard of
