"""Numeric models: properties of a transfer, computed without simulation.

```python
from eifel.model import SteadyState

samples = SteadyState(max_load=40, segment_s=1.25).samples(cycles=3)
samples.predict({"name": "lite", "clock": "exact"}).plot()

from eifel.model import SpuriousTimeout

SpuriousTimeout(rtt_ms=100, window_segments=40, response="option-2").time_ms
```
"""

from eifel.model.prediction import Prediction
from eifel.model.spurious_timeout import SpuriousTimeout
from eifel.model.steady_state import Samples, SteadyState

__all__ = ["Prediction", "Samples", "SpuriousTimeout", "SteadyState"]
