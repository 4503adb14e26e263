"""The algorithms over recorded cellular links. The user has to provide the links: the project ships none."""
