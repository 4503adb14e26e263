"""Studies beyond the papers, with ids `detectors.…`: detectors, responses and lies against the simulator's truth."""
