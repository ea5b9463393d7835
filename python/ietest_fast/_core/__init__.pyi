from . import churn as churn
from . import cochran as cochran
from . import power as power
from . import random as random
from . import runtime as runtime
from . import scores as scores
from . import stats as stats
from . import text as text
