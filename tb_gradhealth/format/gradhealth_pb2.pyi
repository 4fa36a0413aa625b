from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Variable(_message.Message):
    __slots__ = ("name", "shape", "dtype", "size", "layer", "role", "expected_none", "depth")
    class Role(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        TRAINED: _ClassVar[Variable.Role]
        FROZEN: _ClassVar[Variable.Role]
        NOT_HANDED_OVER: _ClassVar[Variable.Role]
        UNTRACKED: _ClassVar[Variable.Role]
    TRAINED: Variable.Role
    FROZEN: Variable.Role
    NOT_HANDED_OVER: Variable.Role
    UNTRACKED: Variable.Role
    NAME_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    LAYER_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_NONE_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    name: str
    shape: _containers.RepeatedScalarFieldContainer[int]
    dtype: str
    size: int
    layer: str
    role: Variable.Role
    expected_none: bool
    depth: int
    def __init__(self, name: _Optional[str] = ..., shape: _Optional[_Iterable[int]] = ..., dtype: _Optional[str] = ..., size: _Optional[int] = ..., layer: _Optional[str] = ..., role: _Optional[_Union[Variable.Role, str]] = ..., expected_none: bool = ..., depth: _Optional[int] = ...) -> None: ...

class Schema(_message.Message):
    __slots__ = ("format_version", "group", "generation", "variables", "replicas", "hooked", "software", "start_time", "every", "clip_norm", "global_clip_norm", "clip_value", "norm_of", "optimizer", "thresholds", "ignore")
    class SoftwareEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class ThresholdsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    FORMAT_VERSION_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    VARIABLES_FIELD_NUMBER: _ClassVar[int]
    REPLICAS_FIELD_NUMBER: _ClassVar[int]
    HOOKED_FIELD_NUMBER: _ClassVar[int]
    SOFTWARE_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    EVERY_FIELD_NUMBER: _ClassVar[int]
    CLIP_NORM_FIELD_NUMBER: _ClassVar[int]
    GLOBAL_CLIP_NORM_FIELD_NUMBER: _ClassVar[int]
    CLIP_VALUE_FIELD_NUMBER: _ClassVar[int]
    NORM_OF_FIELD_NUMBER: _ClassVar[int]
    OPTIMIZER_FIELD_NUMBER: _ClassVar[int]
    THRESHOLDS_FIELD_NUMBER: _ClassVar[int]
    IGNORE_FIELD_NUMBER: _ClassVar[int]
    format_version: int
    group: str
    generation: int
    variables: _containers.RepeatedCompositeFieldContainer[Variable]
    replicas: int
    hooked: str
    software: _containers.ScalarMap[str, str]
    start_time: float
    every: str
    clip_norm: float
    global_clip_norm: float
    clip_value: float
    norm_of: str
    optimizer: str
    thresholds: _containers.ScalarMap[str, float]
    ignore: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, format_version: _Optional[int] = ..., group: _Optional[str] = ..., generation: _Optional[int] = ..., variables: _Optional[_Iterable[_Union[Variable, _Mapping]]] = ..., replicas: _Optional[int] = ..., hooked: _Optional[str] = ..., software: _Optional[_Mapping[str, str]] = ..., start_time: _Optional[float] = ..., every: _Optional[str] = ..., clip_norm: _Optional[float] = ..., global_clip_norm: _Optional[float] = ..., clip_value: _Optional[float] = ..., norm_of: _Optional[str] = ..., optimizer: _Optional[str] = ..., thresholds: _Optional[_Mapping[str, float]] = ..., ignore: _Optional[_Iterable[str]] = ...) -> None: ...

class Record(_message.Message):
    __slots__ = ("first_step", "last_step", "steps", "loss", "loss_max", "loss_nonfinite_steps", "global_norm", "global_norm_max", "loss_scale", "learning_rate", "skipped_steps", "overflow_steps", "clipped_steps", "record_seconds", "norm_last", "norm_min", "norm_max", "norm_mean", "norm_max_step", "none_steps", "zero_steps", "nan_steps", "inf_steps", "handled_steps", "nan_elements", "inf_elements", "first_bad_step", "state_last", "detail_step", "largest", "zero_share", "weight_norm", "update_ratio")
    FIRST_STEP_FIELD_NUMBER: _ClassVar[int]
    LAST_STEP_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    LOSS_FIELD_NUMBER: _ClassVar[int]
    LOSS_MAX_FIELD_NUMBER: _ClassVar[int]
    LOSS_NONFINITE_STEPS_FIELD_NUMBER: _ClassVar[int]
    GLOBAL_NORM_FIELD_NUMBER: _ClassVar[int]
    GLOBAL_NORM_MAX_FIELD_NUMBER: _ClassVar[int]
    LOSS_SCALE_FIELD_NUMBER: _ClassVar[int]
    LEARNING_RATE_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_STEPS_FIELD_NUMBER: _ClassVar[int]
    OVERFLOW_STEPS_FIELD_NUMBER: _ClassVar[int]
    CLIPPED_STEPS_FIELD_NUMBER: _ClassVar[int]
    RECORD_SECONDS_FIELD_NUMBER: _ClassVar[int]
    NORM_LAST_FIELD_NUMBER: _ClassVar[int]
    NORM_MIN_FIELD_NUMBER: _ClassVar[int]
    NORM_MAX_FIELD_NUMBER: _ClassVar[int]
    NORM_MEAN_FIELD_NUMBER: _ClassVar[int]
    NORM_MAX_STEP_FIELD_NUMBER: _ClassVar[int]
    NONE_STEPS_FIELD_NUMBER: _ClassVar[int]
    ZERO_STEPS_FIELD_NUMBER: _ClassVar[int]
    NAN_STEPS_FIELD_NUMBER: _ClassVar[int]
    INF_STEPS_FIELD_NUMBER: _ClassVar[int]
    HANDLED_STEPS_FIELD_NUMBER: _ClassVar[int]
    NAN_ELEMENTS_FIELD_NUMBER: _ClassVar[int]
    INF_ELEMENTS_FIELD_NUMBER: _ClassVar[int]
    FIRST_BAD_STEP_FIELD_NUMBER: _ClassVar[int]
    STATE_LAST_FIELD_NUMBER: _ClassVar[int]
    DETAIL_STEP_FIELD_NUMBER: _ClassVar[int]
    LARGEST_FIELD_NUMBER: _ClassVar[int]
    ZERO_SHARE_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_NORM_FIELD_NUMBER: _ClassVar[int]
    UPDATE_RATIO_FIELD_NUMBER: _ClassVar[int]
    first_step: int
    last_step: int
    steps: int
    loss: float
    loss_max: float
    loss_nonfinite_steps: int
    global_norm: float
    global_norm_max: float
    loss_scale: float
    learning_rate: float
    skipped_steps: int
    overflow_steps: int
    clipped_steps: int
    record_seconds: float
    norm_last: bytes
    norm_min: bytes
    norm_max: bytes
    norm_mean: bytes
    norm_max_step: bytes
    none_steps: bytes
    zero_steps: bytes
    nan_steps: bytes
    inf_steps: bytes
    handled_steps: bytes
    nan_elements: bytes
    inf_elements: bytes
    first_bad_step: bytes
    state_last: bytes
    detail_step: int
    largest: bytes
    zero_share: bytes
    weight_norm: bytes
    update_ratio: bytes
    def __init__(self, first_step: _Optional[int] = ..., last_step: _Optional[int] = ..., steps: _Optional[int] = ..., loss: _Optional[float] = ..., loss_max: _Optional[float] = ..., loss_nonfinite_steps: _Optional[int] = ..., global_norm: _Optional[float] = ..., global_norm_max: _Optional[float] = ..., loss_scale: _Optional[float] = ..., learning_rate: _Optional[float] = ..., skipped_steps: _Optional[int] = ..., overflow_steps: _Optional[int] = ..., clipped_steps: _Optional[int] = ..., record_seconds: _Optional[float] = ..., norm_last: _Optional[bytes] = ..., norm_min: _Optional[bytes] = ..., norm_max: _Optional[bytes] = ..., norm_mean: _Optional[bytes] = ..., norm_max_step: _Optional[bytes] = ..., none_steps: _Optional[bytes] = ..., zero_steps: _Optional[bytes] = ..., nan_steps: _Optional[bytes] = ..., inf_steps: _Optional[bytes] = ..., handled_steps: _Optional[bytes] = ..., nan_elements: _Optional[bytes] = ..., inf_elements: _Optional[bytes] = ..., first_bad_step: _Optional[bytes] = ..., state_last: _Optional[bytes] = ..., detail_step: _Optional[int] = ..., largest: _Optional[bytes] = ..., zero_share: _Optional[bytes] = ..., weight_norm: _Optional[bytes] = ..., update_ratio: _Optional[bytes] = ...) -> None: ...

class Incident(_message.Message):
    __slots__ = ("kind", "group", "generation", "first_step", "last_step", "steps", "rows", "row_count", "evidence", "cause_id", "open", "severity", "rule")
    class EvidenceEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    KIND_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    FIRST_STEP_FIELD_NUMBER: _ClassVar[int]
    LAST_STEP_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    ROW_COUNT_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    CAUSE_ID_FIELD_NUMBER: _ClassVar[int]
    OPEN_FIELD_NUMBER: _ClassVar[int]
    SEVERITY_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    kind: str
    group: str
    generation: int
    first_step: int
    last_step: int
    steps: int
    rows: _containers.RepeatedScalarFieldContainer[int]
    row_count: int
    evidence: _containers.ScalarMap[str, float]
    cause_id: str
    open: bool
    severity: str
    rule: str
    def __init__(self, kind: _Optional[str] = ..., group: _Optional[str] = ..., generation: _Optional[int] = ..., first_step: _Optional[int] = ..., last_step: _Optional[int] = ..., steps: _Optional[int] = ..., rows: _Optional[_Iterable[int]] = ..., row_count: _Optional[int] = ..., evidence: _Optional[_Mapping[str, float]] = ..., cause_id: _Optional[str] = ..., open: bool = ..., severity: _Optional[str] = ..., rule: _Optional[str] = ...) -> None: ...

class Incidents(_message.Message):
    __slots__ = ("format_version", "incidents", "dropped")
    FORMAT_VERSION_FIELD_NUMBER: _ClassVar[int]
    INCIDENTS_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FIELD_NUMBER: _ClassVar[int]
    format_version: int
    incidents: _containers.RepeatedCompositeFieldContainer[Incident]
    dropped: int
    def __init__(self, format_version: _Optional[int] = ..., incidents: _Optional[_Iterable[_Union[Incident, _Mapping]]] = ..., dropped: _Optional[int] = ...) -> None: ...

class Cause(_message.Message):
    __slots__ = ("id", "kind", "group", "variables", "step", "op", "file", "line", "code", "phase", "reason", "fix", "certainty", "evidence", "replica", "reason_id")
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    VARIABLES_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    OP_FIELD_NUMBER: _ClassVar[int]
    FILE_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    FIX_FIELD_NUMBER: _ClassVar[int]
    CERTAINTY_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    REPLICA_FIELD_NUMBER: _ClassVar[int]
    REASON_ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    kind: str
    group: str
    variables: _containers.RepeatedScalarFieldContainer[str]
    step: int
    op: str
    file: str
    line: int
    code: str
    phase: str
    reason: str
    fix: str
    certainty: str
    evidence: _containers.RepeatedScalarFieldContainer[str]
    replica: int
    reason_id: str
    def __init__(self, id: _Optional[str] = ..., kind: _Optional[str] = ..., group: _Optional[str] = ..., variables: _Optional[_Iterable[str]] = ..., step: _Optional[int] = ..., op: _Optional[str] = ..., file: _Optional[str] = ..., line: _Optional[int] = ..., code: _Optional[str] = ..., phase: _Optional[str] = ..., reason: _Optional[str] = ..., fix: _Optional[str] = ..., certainty: _Optional[str] = ..., evidence: _Optional[_Iterable[str]] = ..., replica: _Optional[int] = ..., reason_id: _Optional[str] = ...) -> None: ...

class Causes(_message.Message):
    __slots__ = ("format_version", "causes")
    FORMAT_VERSION_FIELD_NUMBER: _ClassVar[int]
    CAUSES_FIELD_NUMBER: _ClassVar[int]
    format_version: int
    causes: _containers.RepeatedCompositeFieldContainer[Cause]
    def __init__(self, format_version: _Optional[int] = ..., causes: _Optional[_Iterable[_Union[Cause, _Mapping]]] = ...) -> None: ...
