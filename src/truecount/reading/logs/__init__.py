"""Logs of evaluation tools, read without the tools: each becomes records by the rule for names."""
