//! What a client that only reads contracts answers to a server: it has no folders, no model and no user.

#![allow(
    deprecated,
    reason = "servers go on asking for what the protocol is about to remove"
)]

use rmcp::RoleClient;
use rmcp::model::{
    ClientConfig, ClientJsonRpcMessage, ClientResult, ElicitResult, ElicitationAction, ErrorCode,
    ErrorData, ListRootsResult, RequestId, ServerNotification, ServerRequest,
};
use rmcp::service::{NotificationContext, RequestContext, Service};

use exact_json::{Json, to_compact};

/// The client that rmcp serves.
pub(super) struct Handler {
    pub(super) config: ClientConfig,
}

impl Service<RoleClient> for Handler {
    async fn handle_request(
        &self,
        request: ServerRequest,
        _: RequestContext<RoleClient>,
    ) -> Result<ClientResult, ErrorData> {
        answer(&request)
    }

    /// What a notification means is in the record.
    async fn handle_notification(
        &self,
        _: ServerNotification,
        _: NotificationContext<RoleClient>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }
}

fn answer(request: &ServerRequest) -> Result<ClientResult, ErrorData> {
    match request {
        ServerRequest::PingRequest(_) => Ok(ClientResult::empty(())),
        ServerRequest::ListRootsRequest(_) => {
            let none = ListRootsResult::new(Vec::new());
            Ok(ClientResult::ListRootsResult(none))
        }
        ServerRequest::ElicitRequest(_) => {
            let decline = ElicitResult::new(ElicitationAction::Decline);
            Ok(ClientResult::ElicitResult(decline))
        }
        ServerRequest::CreateMessageRequest(_) => {
            let message = "mcp-keel reads contracts; it has no model to ask";
            Err(ErrorData::new(ErrorCode(-1), message, None))
        }
        _ => Err(ErrorData::new(
            ErrorCode::METHOD_NOT_FOUND,
            "Method not found",
            None,
        )),
    }
}

/// The answer to a request that comes before rmcp answers any.
pub(super) fn reply(id: RequestId, request: &ServerRequest) -> String {
    let message = match answer(request) {
        Ok(result) => ClientJsonRpcMessage::response(result, id),
        Err(error) => ClientJsonRpcMessage::error(error, Some(id)),
    };
    serde_json::to_string(&message).unwrap_or_default()
}

/// The answer to a request that rmcp cannot read, under the id that the server gave it.
pub(super) fn refusal(id: &Json, error: &ErrorData) -> String {
    to_compact(&Json::object([
        ("jsonrpc", Json::string("2.0")),
        ("id", id.clone()),
        (
            "error",
            Json::object([
                ("code", Json::integer(error.code.0.into())),
                ("message", Json::string(error.message.as_ref())),
            ]),
        ),
    ]))
}
