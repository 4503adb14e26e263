"""Studies that no paper has, with ids `detectors.…`: detectors, responses and lies against the simulator's truth."""
