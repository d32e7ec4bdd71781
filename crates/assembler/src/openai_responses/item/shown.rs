//! What an item is in the reading: the fields of its part, its call, its failure.

use teeline_finding::{Kind as Finding, excerpt};

use crate::{
    draft::{Draft, PartKind},
    json::{Json, Object},
    node::{Map, Node},
};

use super::{
    super::{
        kind::{CallKind, Kind},
        place::Place,
    },
    Failure, Item,
};

/// Fields up to this size are shown with the item's part; larger ones are in the response only.
const SHOWN: usize = 4 * 1024;

impl Item {
    /// Ids and names. The first id is the item's own; a call has that of the newest object.
    pub(super) fn identify(&mut self, item: &Object<'_>, draft: &mut Draft) {
        if self.id.is_none() {
            self.id = item.filled("id").map(std::borrow::Cow::into_owned);
        }
        let Some(own) = self.own else { return };
        let call = &mut draft.get_mut(own).call;
        call.free = self.kind == Kind::Call(CallKind::Custom);
        call.id =
            item.filled("call_id").map(std::borrow::Cow::into_owned).or_else(|| call.id.take());
        let name = match self.kind {
            Kind::Call(CallKind::BuiltIn(name, _)) => Some(name.into()),
            _ => item.filled("name"),
        };
        if self.kind != Kind::Other("mcp-call") && !matches!(self.kind, Kind::Call(_)) {
            return;
        }
        if let Some(name) = name
            && call.name.as_deref() != Some(&*name)
        {
            call.name = None;
            draft.call_name(own, &name);
        }
    }

    /// The arguments of a call to a tool of the API, which are an object.
    pub(super) fn arguments(&self, item: &Object<'_>, draft: &mut Draft) {
        let (Some(own), Kind::Call(CallKind::BuiltIn(_, keys))) = (self.own, self.kind) else {
            return;
        };
        match keys.iter().find_map(|key| item.some(key)) {
            Some(arguments) => draft.call_object(own, arguments),
            None => draft.get_mut(own).call.complete = true,
        }
    }

    /// What the item's part shows beyond its text: the item's small fields.
    pub(super) fn describe(&self, draft: &mut Draft) {
        let Some(own) = self.own else {
            for (place, part) in &self.texts {
                if let (Place::Text(_), Some(phase)) =
                    (place, self.tree.get("phase").and_then(Node::json))
                {
                    draft.extra(*part, "phase", phase, Map::last);
                }
            }
            return;
        };
        let is_call = matches!(self.kind, Kind::Call(_));
        for (key, node) in self.tree.iter() {
            let is_said = match key {
                "kind" | "text" | "index" | "complete" => true,
                "type" => self.kind != Kind::Other("other"),
                "id" | "call_id" | "name" | "arguments" | "action" | "actions" | "operation" => {
                    is_call
                }
                _ => false,
            };
            if let Some(value) = node.json().filter(|value| !is_said && value.raw().len() <= SHOWN)
            {
                draft.extra(own, key, value, Map::set_json);
            }
        }
    }

    /// Reasoning of which only the encrypted form came.
    pub(super) fn show_encrypted(&mut self, draft: &mut Draft) {
        let encrypted = self.tree.get("encrypted_content").and_then(Node::json).and_then(Json::str);
        let is_bare = self.own.is_none() && self.texts.is_empty();
        if let (Kind::Reasoning, true, Some(encrypted)) = (self.kind, is_bare, encrypted) {
            let bytes = encrypted.len() as u64;
            let part = draft.part(0, PartKind::Other("encrypted-reasoning"));
            draft.get_mut(part).order = self.order(0);
            draft.get_mut(part).extra.set("bytes", bytes);
            self.own = Some(part);
        }
    }

    /// What the provider ran failed: `tool-failed`, once.
    pub(super) fn tell_failure(&mut self, draft: &mut Draft) {
        let json = |key: &str| self.tree.get(key).and_then(Node::json);
        let status = json("status").and_then(Json::str);
        let error = json("error").filter(|error| !error.is_null());
        let is_mcp = matches!(&*self.type_name, "mcp_call" | "mcp_list_tools");
        let has_failed = self.failure == Failure::Heard
            || status.as_deref() == Some("failed")
            || (is_mcp && error.is_some_and(Json::is_truthy));
        if !has_failed
            || self.failure == Failure::Told
            || matches!(self.kind, Kind::Message | Kind::Reasoning)
        {
            return;
        }
        let known = error.and_then(|error| {
            let inner = || error.get("message").or_else(|| error.get("code")).and_then(Json::str);
            error.str().or_else(inner).or_else(|| Some(error.shortened().into()))
        });
        let message =
            known.map_or_else(|| "no reason was given".to_owned(), |known| excerpt(&known));
        let name = json("name").and_then(Json::str).filter(|name| !name.is_empty());
        let label = || json("server_label").and_then(Json::str);
        let tool =
            name.or_else(label).map_or_else(|| self.type_name.clone(), |name| excerpt(&name));
        self.failure = Failure::Told;
        if !draft.is_document() {
            draft.report(Finding::ToolFailed { tool, message });
        }
    }
}
