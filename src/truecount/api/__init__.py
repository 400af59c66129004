"""The verbs. Each is imported from the module that holds it, so that a door loads no more than it uses."""
