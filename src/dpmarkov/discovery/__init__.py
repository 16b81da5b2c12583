"""What must be learnt from the data before they can be counted, each at a price.

How many events of a user to keep (`bounds`) and which states there are (`discover_states`) are public
parameters. Nobody may read them off the data for free; here they are learnt privately, and the charge goes
with them: `release(..., charges=[...])` takes it out of the same budget and says so in its guarantee.
"""

from dpmarkov.discovery.histogram import BoundsReport, bounds
from dpmarkov.discovery.states import Discovery, discover_states
from dpmarkov.privacy.charge import Charge

__all__ = ["BoundsReport", "Charge", "Discovery", "bounds", "discover_states"]
