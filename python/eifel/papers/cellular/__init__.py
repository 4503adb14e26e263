"""The algorithms over recorded cellular links, which somebody has to give: the project ships none."""
