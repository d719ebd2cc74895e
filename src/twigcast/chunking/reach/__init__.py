"""What queries look at: where they can select, what their predicates need, whether parts are enough."""
