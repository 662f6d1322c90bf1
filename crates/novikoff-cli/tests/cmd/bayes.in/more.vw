spam |w cheap:2 pills now
ham |w lunch at noon
spam |w cheap offer now
news |w match at noon
spam |w pills now
news |w match won
ham |w lunch offer
spam |w cheap pills
