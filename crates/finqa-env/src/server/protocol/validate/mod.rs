//! Reading requests, and saying what is wrong with one in the words and the
//! shape of pydantic 2.13, which every OpenEnv client knows. Values are read in
//! pydantic's lax mode: `"7"` and `7.0` are integers, `1.5` is not.

mod fields;
mod issue;
mod requests;

pub(crate) use issue::{RequestIssue, summary};
pub(crate) use requests::{
    MessageData, ResetRequest, RpcRequest, StepAction, TaskQuery, TaskRoute, action, message_data,
    reset_body, reset_message, rpc_request, step_body, task_body,
};
