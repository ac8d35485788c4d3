"""How the agreement of reviewers and judges is written and shown."""
