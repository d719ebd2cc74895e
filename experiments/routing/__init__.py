"""Section 5 of the paper on routing XML documents among brokers (R), figure by figure."""
