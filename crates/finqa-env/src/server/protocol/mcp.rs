//! The official MCP transports, by the library rmcp: streamable HTTP at `/mcp/stream`, and standard
//! input and output for desktop clients. They offer the same four tools as `json_rpc`. As there, a
//! call is not a step of an episode and earns no reward.
//!
//! The tools store nothing between calls, so the HTTP transport is stateless. It has no sessions
//! that a client could open or leak.

use std::sync::Arc;

use finqa_core::text::head;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
    Tool,
};
use rmcp::service::{RequestContext, RoleServer, ServiceExt};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::episode::EpisodeRules;
use crate::server::calls;
use crate::server::error::ServerError;
use crate::server::options::{MESSAGE_BYTES, ServerOptions};
use crate::server::state::ServerState;
use crate::server::state::query_queue::QueryCostHistory;
use crate::tools::Tools;

/// The name with which the server introduces itself.
const NAME: &str = "convfinqa-finqa-env";

const INSTRUCTIONS: &str = "Financial tables of companies' annual reports. get_descriptions \
    lists a company's tables, get_table_info shows one table's columns and values, sql_query \
    reads it (a filter is required, SELECT * is refused), submit_answer records an answer.";

/// The MCP server: lists and calls the tools.
#[derive(Clone)]
pub(crate) struct FinqaMcp {
    app: Arc<ServerState>,
}

impl ServerHandler for FinqaMcp {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new(NAME, env!("CARGO_PKG_VERSION"));
        info.server_info.title = Some("FinQA environment".to_owned());
        info.instructions = Some(INSTRUCTIONS.to_owned());
        info
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let known = self.tools().iter().any(|tool| tool.name == request.name);
        if !known {
            // MCP reports an unknown tool as a protocol error with this code.
            // The name is cut to a length set by hand.
            let message = format!("Unknown tool: '{}'", head(&request.name, 200));
            return Err(ErrorData::invalid_params(message, None));
        }
        let arguments = request.arguments.unwrap_or_default();
        // Stateless, so there is no earlier query.
        let (queries, name) = (QueryCostHistory::default(), request.name.into_owned());
        let result = match calls::call_tool(&self.app, &queries, name, arguments).await {
            Ok(text) => {
                let mut result = CallToolResult::success(vec![ContentBlock::text(text.clone())]);
                result.structured_content = Some(json!({"result": text}));
                result
            }
            // A tool's failure is a result and not a protocol error, so that the model sees what
            // was wrong with its call.
            Err(message) => CallToolResult::error(vec![ContentBlock::text(message)]),
        };
        Ok(result.into())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools().into_iter().find(|tool| tool.name == name)
    }
}

impl FinqaMcp {
    /// The four tools in the form of MCP.
    fn tools(&self) -> Vec<Tool> {
        let Value::Array(listed) = calls::tool_list() else {
            return Vec::new();
        };
        listed
            .into_iter()
            .filter_map(|mut tool| {
                // The list has every field that fastmcp sends, but MCP allows neither nulls nor
                // `meta`. No tool is dropped: a test expects all four.
                let fields = tool.as_object_mut()?;
                fields.retain(|key, value| !value.is_null() && key != "meta");
                serde_json::from_value(tool).ok()
            })
            .collect()
    }
}

/// The streamable HTTP transport. Its own check of the host is turned off, because `guard` has
/// already checked host, origin and token.
pub(crate) fn http_service(
    app: &Arc<ServerState>,
) -> StreamableHttpService<FinqaMcp, NeverSessionManager> {
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_legacy_session_mode(false)
        // A tool sends nothing before its result, so a stream of events is not needed.
        .with_json_response(true)
        .with_max_request_body_bytes(MESSAGE_BYTES)
        .with_cancellation_token(app.shutdown.clone());
    let app = Arc::clone(app);
    StreamableHttpService::new(
        move || {
            Ok(FinqaMcp {
                app: Arc::clone(&app),
            })
        },
        Arc::new(NeverSessionManager::default()),
        config,
    )
}

/// Serves one MCP client over standard input and output until it closes them or `shutdown` is
/// cancelled.
///
/// # Errors
/// [`ServerError::Stdio`] if the session fails, for example because the client does not speak MCP.
pub async fn serve_stdio(
    tools: Arc<Tools>,
    shutdown: CancellationToken,
) -> Result<(), ServerError> {
    // The default rules and options, because there are neither episodes nor sockets.
    let app = ServerState::new(
        tools,
        EpisodeRules::default(),
        ServerOptions::default(),
        shutdown.clone(),
    );
    let failed = |error: &dyn std::fmt::Display| ServerError::Stdio {
        message: error.to_string(),
    };
    let service = FinqaMcp { app }
        .serve(rmcp::transport::io::stdio_pipes())
        .await
        .map_err(|error| failed(&error))?;
    let cancel = service.cancellation_token();
    let mut ended = std::pin::pin!(service.waiting());
    let outcome = tokio::select! {
        outcome = &mut ended => outcome,
        () = shutdown.cancelled() => {
            cancel.cancel();
            ended.await
        }
    };
    outcome.map(|_| ()).map_err(|error| failed(&error))
}
