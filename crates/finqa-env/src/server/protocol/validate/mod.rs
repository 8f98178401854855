//! Reading requests, and saying what is wrong with one in the words and the
//! shape of pydantic 2.13, which every OpenEnv client knows. `requests` lists the
//! fields of each request, `fields` reads them, `issue` is one fault.

mod fields;
mod issue;
mod requests;

pub(crate) use fields::read;
pub(crate) use issue::{RequestIssue, summary};
pub(crate) use requests::{
    BARE, MAY_HAVE_DATA, RESET_BODY, RESET_MESSAGE, RPC, ResetRequest, RpcRequest, STEP_BODY,
    StepAction, StepRequest, TaskRequest, TaskRoute, WITH_DATA, action, message_data,
};
