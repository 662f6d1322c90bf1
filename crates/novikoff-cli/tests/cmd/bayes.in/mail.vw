spam |w cheap:2 pills now
ham |w lunch at noon
spam |w cheap cheap offer now
ham |w the offer is fine lunch
ham |w meeting at noon
