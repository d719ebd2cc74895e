"""Section 5 of the paper on routing XML documents among routers (R), figure by figure."""
