//! Reading requests, and saying what is wrong with one in the words and the
//! shape of pydantic 2.13, which every OpenEnv client knows. Values are read in
//! pydantic's lax mode: `"7"` and `7.0` are integers, `1.5` is not.

mod body;
mod issue;
mod lax;
mod message;

pub use body::{Reset, reset_body, step_body, task_body};
pub use issue::{RequestIssue, in_body, json_fault, no_body, not_an_object, summary, with_urls};
pub use message::{Data, RpcRequest, StepAction, action, message_data, reset_message, rpc_request};
