//! The judge of the stream cases: what `tools/check.py` asks of a reading.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

/// Compares a reading with an `expect.json`.
pub(crate) fn judge(reading: &Value, expect: &Value) -> Result<(), String> {
    let outputs = Outputs::new(reading);
    outputs.texts(expect)?;
    outputs.calls(expect)?;
    outputs.reasons(expect)?;
    let response = &reading["response"];
    for (key, got) in [
        ("usage", &reading["usage"]["raw"]),
        ("response", response),
        ("nonstream", response),
        ("blocks", &response["content"]),
    ] {
        if !expect[key].is_null() {
            contains(got, &expect[key], key)?;
        }
    }
    own_view(response, expect)?;
    verdict(reading, expect)?;
    findings(reading, expect)
}

struct Outputs<'r>(BTreeMap<String, &'r Value>);

impl<'r> Outputs<'r> {
    fn new(reading: &'r Value) -> Self {
        let outputs = reading["outputs"].as_array().unwrap().iter();
        Self(outputs.map(|output| (output["index"].to_string(), output)).collect())
    }

    fn get(&self, index: &str, key: &str) -> Value {
        self.0.get(index).map_or(Value::Null, |output| output[key].clone())
    }

    fn indexes(&self, want: &Value) -> BTreeSet<String> {
        let wanted = want.as_object().into_iter().flat_map(|want| want.keys().cloned());
        self.0.keys().cloned().chain(wanted).collect()
    }

    fn texts(&self, expect: &Value) -> Result<(), String> {
        for key in ["text", "reasoning", "refusal"] {
            for index in self.indexes(&expect[key]) {
                let (got, want) = (text(&self.get(&index, key)), text(&expect[key][&index]));
                same(&format!("{key} of {index}"), &json!(got), &json!(want))?;
            }
        }
        for (index, role) in expect["role"].as_object().into_iter().flatten() {
            same(&format!("role of {index}"), &self.get(index, "role"), role)?;
        }
        Ok(())
    }

    fn calls(&self, expect: &Value) -> Result<(), String> {
        let calls = |calls: &Value, valid: &str| -> Value {
            let each = calls.as_array().into_iter().flatten();
            each.map(|call| json!([call["id"], call["name"], call["arguments"], call[valid]]))
                .collect()
        };
        for index in self.indexes(&expect["tool_calls"]) {
            let got = calls(&self.get(&index, "tool_calls"), "arguments_valid");
            let want = calls(&expect["tool_calls"][&index], "arguments_json_valid");
            same(&format!("tool_calls of {index}"), &got, &want)?;
        }
        Ok(())
    }

    fn reasons(&self, expect: &Value) -> Result<(), String> {
        if !expect["finish_reason"].is_null() {
            for index in self.indexes(&expect["finish_reason"]) {
                let got = self.get(&index, "finish")["reason"].clone();
                same(&format!("finish of {index}"), &got, &expect["finish_reason"][&index])?;
            }
        }
        match expect.get("stop_reason") {
            Some(want) => same("stop_reason", &self.get("0", "finish")["reason"], want),
            None => Ok(()),
        }
    }
}

/// What is asked of the response in the format's own shape.
fn own_view(response: &Value, expect: &Value) -> Result<(), String> {
    if !expect["status"].is_null() {
        same("response.status", &response["status"], &expect["status"])?;
    }
    if let Some(want) = expect["output"].as_array() {
        let got =
            response["output"].as_array().into_iter().flatten().map(short_item).collect::<Vec<_>>();
        same("response.output", &blank(&json!(got)), &blank(&json!(want)))?;
    }
    let by_index = |list: &Value| -> BTreeMap<String, Value> {
        let each = list.as_array().into_iter().flatten();
        each.map(|one| (one["index"].as_u64().unwrap_or(0).to_string(), one.clone())).collect()
    };
    let candidates = by_index(&response["candidates"]);
    for (index, want) in expect["parts"].as_object().into_iter().flatten() {
        let got = candidates
            .get(index)
            .map_or(Value::Null, |candidate| candidate["content"]["parts"].clone());
        contains(&got, want, &format!("parts of {index}"))?;
    }
    let choices = by_index(&response["choices"]);
    for (index, want) in expect["logprob_tokens"].as_object().into_iter().flatten() {
        let got =
            choices.get(index).map_or(Value::Null, |choice| choice["logprobs"]["content"].clone());
        let got: Value =
            got.as_array().into_iter().flatten().map(|entry| entry["token"].clone()).collect();
        same(&format!("logprobs of {index}"), &got, want)?;
    }
    Ok(())
}

/// A Responses item in the short form of `expect.json`.
fn short_item(item: &Value) -> Value {
    match item["type"].as_str().unwrap_or_default() {
        "message" => {
            let texts: String = item["content"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|part| text(&part["text"]))
                .collect();
            json!({"type": "message", "text": texts})
        }
        "function_call" => {
            json!({"type": "function_call", "call_id": item["call_id"], "name": item["name"], "arguments": item["arguments"]})
        }
        _ => json!({"type": item["type"], "encrypted_content": item["encrypted_content"]}),
    }
}

fn verdict(reading: &Value, expect: &Value) -> Result<(), String> {
    let mut wants = list(&expect["complete_any_of"]);
    if wants.is_empty() {
        wants.push(text(&expect["complete"]));
    }
    let got = text(&reading["verdict"]).replace('-', "_");
    if wants.contains(&got) { Ok(()) } else { Err(format!("verdict {got}, want one of {wants:?}")) }
}

fn findings(reading: &Value, expect: &Value) -> Result<(), String> {
    let found = reading["findings"].as_array().unwrap();
    let ids: BTreeSet<String> = found.iter().map(|finding| text(&finding["id"])).collect();
    let groups: Vec<Vec<String>> =
        expect["findings_any_of"].as_array().into_iter().flatten().map(list).collect();
    let (must, allowed) = (list(&expect["findings"]), list(&expect["findings_allowed"]));
    if let Some(missing) = must.iter().find(|id| !ids.contains(*id)) {
        return Err(format!("finding {missing} is missing; got {ids:?}"));
    }
    if let Some(group) = groups.iter().find(|group| !group.iter().any(|id| ids.contains(id))) {
        return Err(format!("none of the findings {group:?}; got {ids:?}"));
    }
    if let Some(bad) = list(&expect["findings_must_not"]).iter().find(|id| ids.contains(*id)) {
        return Err(format!("finding {bad} must not be there"));
    }
    if must.iter().any(|id| id == "error-event") && text(&reading["error"]["message"]).is_empty() {
        return Err("the error has no message".to_owned());
    }
    let report = json!([reading["error"], found]).to_string();
    if let Some(words) =
        list(&expect["report_contains"]).iter().find(|words| !report.contains(*words))
    {
        return Err(format!("neither error nor findings tell {words:?}"));
    }
    let known: Vec<String> = [must, allowed].concat().into_iter().chain(groups.concat()).collect();
    let extra = found
        .iter()
        .find(|finding| finding["severity"] != "note" && !known.contains(&text(&finding["id"])));
    extra.map_or(Ok(()), |extra| Err(format!("a finding nobody asked for: {extra}")))
}

/// Every key of an object and every element of a list of `want` is in `got`; `null` equals `""`.
pub(crate) fn contains(got: &Value, want: &Value, at: &str) -> Result<(), String> {
    match want {
        Value::Object(want) => want.iter().try_for_each(|(key, value)| {
            if !value.is_null() && got.get(key).is_none() {
                return Err(format!("{at}.{key} is missing in {got}"));
            }
            contains(&got[key], value, &format!("{at}.{key}"))
        }),
        Value::Array(want) => {
            let got = got.as_array().filter(|got| got.len() == want.len());
            let got = got.ok_or_else(|| format!("{at}: want {want:?}"))?;
            want.iter()
                .enumerate()
                .try_for_each(|(n, value)| contains(&got[n], value, &format!("{at}[{n}]")))
        }
        _ => same(at, &blank(got), &blank(want)),
    }
}

/// `null` and `""` are the same where there is no text.
fn blank(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            members.iter().map(|(key, value)| (key.clone(), blank(value))).collect()
        }
        Value::Array(items) => items.iter().map(blank).collect(),
        Value::String(text) if text.is_empty() => Value::Null,
        _ => value.clone(),
    }
}

pub(crate) fn same(what: &str, got: &Value, want: &Value) -> Result<(), String> {
    if got == want { Ok(()) } else { Err(format!("{what}: got {got}, want {want}")) }
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

pub(crate) fn list(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(text).collect()
}
