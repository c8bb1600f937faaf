"""The files of tools/ that make case folders; there they are a program."""
