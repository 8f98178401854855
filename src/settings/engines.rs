//! The variables of array jobs, for `--shard auto`.

/// The variables by which an engine numbers the tasks of an array job.
pub(super) struct Engine {
    pub index: &'static str,
    /// The variable of the first task's index, and what it is without one.
    pub first: (Option<&'static str>, u32),
    /// The variable of the last task's index.
    pub last: Option<&'static str>,
    /// The variable of the distance between the indices of two tasks.
    pub step: Option<&'static str>,
    pub count: Option<&'static str>,
    pub job: Option<&'static str>,
}

/// Tasks are counted from 0, and nothing else is known.
const FROM_0: Engine = Engine {
    index: "",
    first: (None, 0),
    last: None,
    step: None,
    count: None,
    job: None,
};
const FROM_1: Engine = Engine {
    first: (None, 1),
    ..FROM_0
};

pub(super) const ENGINES: [Engine; 6] = [
    Engine {
        index: "SLURM_ARRAY_TASK_ID",
        first: (Some("SLURM_ARRAY_TASK_MIN"), 1),
        last: Some("SLURM_ARRAY_TASK_MAX"),
        step: Some("SLURM_ARRAY_TASK_STEP"),
        count: Some("SLURM_ARRAY_TASK_COUNT"),
        job: Some("SLURM_ARRAY_JOB_ID"),
    },
    // An Indexed Job of Kubernetes.
    Engine {
        index: "JOB_COMPLETION_INDEX",
        ..FROM_0
    },
    Engine {
        index: "PBS_ARRAY_INDEX",
        job: Some("PBS_ARRAY_ID"),
        ..FROM_1
    },
    // Grid Engine; "undefined" outside of an array job.
    Engine {
        index: "SGE_TASK_ID",
        first: (Some("SGE_TASK_FIRST"), 1),
        last: Some("SGE_TASK_LAST"),
        step: Some("SGE_TASK_STEPSIZE"),
        job: Some("JOB_ID"),
        ..FROM_1
    },
    Engine {
        index: "AWS_BATCH_JOB_ARRAY_INDEX",
        count: Some("AWS_BATCH_JOB_ARRAY_SIZE"),
        job: Some("AWS_BATCH_JOB_ID"),
        ..FROM_0
    },
    // GitLab's `parallel`.
    Engine {
        index: "CI_NODE_INDEX",
        count: Some("CI_NODE_TOTAL"),
        job: Some("CI_PIPELINE_ID"),
        ..FROM_1
    },
];
