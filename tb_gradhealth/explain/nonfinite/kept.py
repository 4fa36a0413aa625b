"""A bad step that was kept while it ran inside a traced function: the batch, and the weights from before the update."""

import dataclasses
from typing import Any

import tensorflow as tf

from tb_gradhealth.explain import source
from tb_gradhealth.explain.nonfinite import graph_questions
from tb_gradhealth.explain.nonfinite.blame import causes_of
from tb_gradhealth.format.causes import Cause


def causes_of_kept(kept: Any) -> list[Cause]:
    """The causes of a kept step; none of one run eagerly, or if nothing tells why a finite gradient is so large.

    Args:
      kept: has the attributes of `tb_gradhealth.record.evidence.KeptStep`.

    Raises:
      graph_questions.CannotRun: the step cannot be run again; the text says why.
    """
    if kept.graph is None:
        return []
    if kept.why_not and not kept.before and not kept.withheld:
        raise graph_questions.CannotRun(f"the batch and the weights of the bad step were not kept: {kept.why_not}")
    with tf.init_scope():
        question = graph_questions.question_of(
            kept.graph,
            kept.gradients,
            kept.variables,
            loss=kept.loss,
            inputs=kept.inputs,
            before=kept.before,
            data=kept.data,
            step=kept.step,
        )
        stack = question.stack if source.innermost(question.stack) else source.stack_here(1)  # replicas have threads
        causes = causes_of(dataclasses.replace(question, exploded=kept.exploded, stack=stack))
    if not causes and not kept.exploded:
        raise graph_questions.CannotRun(
            "run once more operation by operation, the step gave finite values (XLA computes some of them otherwise, "
            "and random numbers differ)"
        )
    return causes
