"""The health of a whole run, from its log. Pure: the same log gives the same answer, wherever it is asked.

The stored windows go through the same rules as during training. Where windows are wide, the incidents that the writer
stored while it saw every step give the exact steps.
"""

from tb_gradhealth.format.log import RunLog
from tb_gradhealth.health.assessment import Assessment
from tb_gradhealth.health.results import RunHealth
from tb_gradhealth.health.thresholds import GivenThresholds


def assess(run: RunLog, thresholds: GivenThresholds = None) -> RunHealth:
    """The verdict on a run, the state of each variable, and what happened.

    Args:
      run: as `format.reader.read_run` or `format.log.assemble` give it.
      thresholds: limits of the rules: all, or some by name; those that the run was recorded with where None.
    """
    assessment = Assessment({name: group.generations for name, group in run.groups.items()}, thresholds)
    for name, group in run.groups.items():
        assessment.feed(name, group.windows)
    return assessment.health(
        incidents=run.incidents, causes=run.causes, problems=run.problems, newer_format=run.newer_format
    )
