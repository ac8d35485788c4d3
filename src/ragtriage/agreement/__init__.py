"""How far labels agree: people with people, and judges with what people settled."""
