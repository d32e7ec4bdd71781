//! `LangServe` and `LangGraph`: the example of `FORMATS.md` F.1, and its rules one by one.

use serde_json::{Value, json};
use teeline_assembler::{Assembly, End, Options, Reading, Verdict};
use teeline_finding::Kind;

use crate::{
    alike::{Row, fire_alone, of_sse, plain_as_streamed, sse, told_alone},
    support::{example, fixture, ids, read, response, value},
};

const FORMAT: &str = "langserve";

#[test]
fn examples() {
    for (name, findings) in
        [("F1", &["cumulative"][..]), ("text", &[]), ("chunks", &[]), ("fields", &[]), ("log", &[])]
    {
        example(FORMAT, name, "sse", findings, "finished");
    }
}

#[test]
fn graphs() {
    for (name, findings) in
        [("graph", &[][..]), ("partial", &["rewritten"]), ("blocks", &[]), ("protocol", &[])]
    {
        example(FORMAT, name, "sse", findings, "finished");
    }
}

/// What `/invoke` answers.
#[test]
fn plain_bodies_read_as_their_streams() {
    for name in ["F1", "text", "chunks", "fields"] {
        plain_as_streamed(
            &fixture(FORMAT, &format!("{name}.sse")),
            &fixture(FORMAT, &format!("{name}.json")),
        );
    }
}

/// Frames of events and their data; without data the event alone.
fn events(frames: &[(&str, Value)]) -> String {
    let frame = |(event, data): &(&str, Value)| match data {
        Value::Null => format!("event: {event}\n\n"),
        data => format!("event: {event}\ndata: {data}\n\n"),
    };
    frames.iter().map(frame).collect()
}

/// A run of a runnable: metadata, these values, the end.
fn run(values: &[Value]) -> String {
    let mut frames = vec![("metadata", json!({"run_id": "r"}))];
    frames.extend(values.iter().map(|value| ("data", value.clone())));
    frames.push(("end", Value::Null));
    events(&frames)
}

fn graph(frames: &[(&str, Value)]) -> Reading {
    read(events(&[&[("metadata", json!({"run_id": "r"}))], frames].concat()).as_bytes(), 0)
}

fn texts(reading: &Reading) -> Vec<&str> {
    reading.outputs.iter().map(|output| output.text.as_str()).collect()
}

fn human(text: &str, id: &str) -> Value {
    json!({"type": "human", "content": text, "id": id})
}

fn ai(text: &str, id: &str) -> Value {
    json!({"type": "ai", "content": text, "id": id})
}

fn chunk(text: &str, id: &str) -> Value {
    json!({"type": "AIMessageChunk", "content": text, "id": id})
}

fn rows() -> Vec<Row> {
    let good = run(&[json!("Hel"), json!("lo")]);
    let with = |event: &str, data: Value| {
        good.replacen("event: data", &format!("{}event: data", events(&[(event, data)])), 1)
    };
    let edit = |from: &str, to: &str| good.replacen(from, to, 1);
    let completed = |mode: &str, message: Value| {
        let whole = ("messages/complete", json!([ai("Ha", "a")]));
        events(&[(mode, json!([message])), whole, ("end", Value::Null)])
    };
    vec![
        ("unknown-event", with("surprise", json!({"x": 1})), with("tasks", json!({"x": 1}))),
        ("ignored-line", with("pause", Value::Null), good.clone()),
        ("not-json", edit("\"lo\"", "lo"), edit("event: end\n", "event: end\ndata: over\n")),
        ("no-end", edit("event: end\n\n", ""), edit("event: end\n", "event: end\ndata:\n")),
        ("no-end", edit("event: end\n\n", ""), edit("event: end\n", "event: end\ndata: null\n")),
        ("after-end", format!("{good}event: data\ndata: \"!\"\n\n"), format!("{good}: ping\n\n")),
        (
            "error-event",
            edit("event: end\n", "event: error\ndata: {\"status_code\":500,\"message\":\"m\"}\n"),
            good.clone(),
        ),
        (
            "id-changed",
            with("metadata", json!({"run_id": "s"})),
            with("metadata", json!({"run_id": "r"})),
        ),
        ("bad-field", with("metadata", json!(1)), with("metadata", json!({}))),
        ("not-assembled", with("custom", json!({"x": 1})), with("feedback", json!({"x": 1}))),
        (
            "not-assembled",
            run(&[json!({"event": "on_chain_start", "run_id": "r", "data": {}})]),
            run(&[json!({"event": "on_chain_start", "data": {}})]),
        ),
        (
            "cumulative",
            run(&[json!("It was a dark"), json!("It was a dark night")]),
            run(&[json!("It was a dark"), json!(" night")]),
        ),
        (
            "rewritten",
            completed("messages/partial", ai("Hm", "a")),
            completed("messages/partial", ai("H", "a")),
        ),
        (
            "done-mismatch",
            completed("messages", chunk("Hm", "a")),
            completed("messages", chunk("Ha", "a")),
        ),
    ]
}

/// Fields of another shape, each beside the same field with nothing in it.
fn bad_fields() -> Vec<Row> {
    let message = |fields: Value| {
        let mut message = chunk("Hi", "a");
        message.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        run(&[message])
    };
    vec![
        ("bad-field", message(json!({"content": 1})), message(json!({"content": null}))),
        ("bad-field", message(json!({"content": [1]})), message(json!({"content": []}))),
        (
            "bad-field",
            message(json!({"content": [{"type": "text", "text": 1}]})),
            message(json!({"content": [{"type": "text", "text": null}]})),
        ),
        ("bad-field", message(json!({"tool_calls": [1]})), message(json!({"tool_calls": []}))),
    ]
}

#[test]
fn each_fires_and_its_near_miss_does_not() {
    let good = run(&[json!("Hel"), json!("lo")]);
    // A last frame without its blank line is the end here, which has no data.
    let of_sse = of_sse(&good).into_iter().filter(|(id, ..)| *id != "unterminated");
    fire_alone([of_sse.collect(), rows(), bad_fields()].concat());
}

/// The end without data is no ignored line, in this format only (`FORMATS.md` G.7).
#[test]
fn the_end_without_data() {
    let good = run(&[json!("Hello")]);
    assert_eq!(ids(&read(good.as_bytes(), 0)), [""; 0]);
    let chat = "data: {\"choices\":[]}\n\nevent: end\n\ndata: [DONE]\n\n";
    assert!(ids(&read(chat.as_bytes(), 0)).contains(&"ignored-line"));
    let unknown = "data: {\"x\":1}\n\nevent: end\n\n";
    assert_eq!(ids(&read(unknown.as_bytes(), 0)), ["ignored-line"]);
}

/// A message's class leans towards pieces or towards all of it so far; its values decide.
#[test]
fn values_decide() {
    for (values, want) in [
        (vec![ai("Hel", "a"), ai("Hello", "a")], "Hello"),
        (vec![ai("Hel", "a"), ai("lo", "a")], "Hello"),
        (vec![chunk("Hel", "a"), chunk("Hello", "a")], "HelHello"),
        (
            vec![chunk("It was a dark", "a"), chunk("It was a dark night", "a")],
            "It was a dark night",
        ),
        (
            vec![
                json!([ai("Hel", "a"), ai("Two", "b")]),
                json!([ai("Hello", "a"), ai("Two.", "b")]),
            ],
            "Hello",
        ),
    ] {
        let reading = read(run(&values).as_bytes(), 0);
        assert_eq!(texts(&reading)[0], want, "{values:?}");
        assert_eq!(reading.verdict, Verdict::Finished);
    }
}

/// What the first state holds of the model was said before; if nothing else comes, its end is the answer.
#[test]
fn history_is_no_answer() {
    let begun = json!({"messages": [human("Hi", "h"), ai("Hello.", "a"), human("And?", "i")]});
    let later = json!({"messages": [human("Hi", "h"), ai("Hello.", "a"), human("And?", "i"), ai("So.", "b")]});
    let reading = graph(&[("values", begun.clone()), ("values", later.clone())]);
    assert_eq!(
        (texts(&reading), reading.verdict, ids(&reading)),
        (vec!["So."], Verdict::Finished, vec![])
    );
    assert_eq!(response(&reading)["values"], later);
    assert_eq!(texts(&graph(&[("values", later.clone())])), ["So."]);
    assert!(graph(&[("values", begun.clone())]).outputs.is_empty());
    // Without ids messages are told apart by their places.
    let bare = |state: &Value| {
        serde_json::from_str::<Value>(
            &state.to_string().replace(",\"id\":", ",\"x\":").replace("\"id\":", "\"x\":"),
        )
        .unwrap()
    };
    assert_eq!(texts(&graph(&[("values", bare(&begun)), ("values", bare(&later))])), ["So."]);
}

/// A graph's body ends after a state, or after a message that has stopped; not in the middle of one.
#[test]
fn a_graphs_body_may_end_it() {
    let stopped = json!([{"type": "AIMessageChunk", "content": "", "id": "a", "response_metadata": {"finish_reason": "stop"}}, {}]);
    let piece = ("messages", json!([chunk("Hi", "a"), {}]));
    for (frames, want) in [
        (vec![piece.clone()], Verdict::DidNotFinish),
        (vec![piece.clone(), ("messages", stopped)], Verdict::Finished),
        (vec![piece.clone(), ("values", json!({"messages": [ai("Hi", "a")]}))], Verdict::Finished),
        (vec![piece.clone(), ("messages/complete", json!([ai("Hi", "a")]))], Verdict::Finished),
        (vec![("messages/partial", json!([ai("Hi", "a")]))], Verdict::DidNotFinish),
        (vec![("updates", json!({"agent": {"messages": [ai("Hi", "a")]}}))], Verdict::Finished),
        (vec![("updates", json!({"agent": {"messages": ai("Hi", "a")}}))], Verdict::Finished),
    ] {
        let reading = graph(&frames);
        assert_eq!(reading.verdict, want, "{frames:?}");
        assert_eq!(ids(&reading).contains(&"no-end"), want == Verdict::DidNotFinish);
        assert_eq!(texts(&reading), ["Hi"]);
    }
    let mut assembly = Assembly::new(Options::default());
    assembly.push(fixture(FORMAT, "blocks.sse").into(), None);
    assembly.finish(End::Broke { how: "reset".into() });
    assert_eq!(assembly.reading().verdict, Verdict::DidNotFinish);
}

/// Each message of the model is an output; a tool's is a part beside it, and its call is answered.
#[test]
fn messages_are_outputs() {
    let reading = value(&read(&fixture(FORMAT, "graph.sse"), 0));
    let outputs = reading["outputs"].as_array().unwrap();
    assert_eq!(outputs.len(), 2);
    assert_eq!((&outputs[0]["role"], &outputs[1]["text"]), (&json!("ai"), &json!("It rains.")));
    assert_eq!(outputs[0]["tool_calls"], json!([]));
    let kinds: Vec<_> =
        outputs[0]["parts"].as_array().unwrap().iter().map(|part| &part["kind"]).collect();
    assert_eq!(kinds, ["answered-call", "tool-message"]);
    assert_eq!(outputs[0]["finish"]["reason"], "tool_calls");
    assert_eq!(
        reading["usage"]["raw"],
        json!({"input_tokens": 25, "output_tokens": 10, "total_tokens": 35})
    );
    assert_eq!((&reading["id"], &reading["model"]), (&json!("r1"), &json!("m-1")));
    let chunks = value(&read(&fixture(FORMAT, "chunks.sse"), 0));
    let calls = chunks["outputs"][0]["tool_calls"].as_array().unwrap();
    assert_eq!((calls.len(), &calls[0]["arguments"]), (2, &json!("{\"city\":\"Oslo\"}")));
    assert_eq!(chunks["usage"]["cached_tokens"], 4);
}

/// In an envelope: reasoning, text and a call; a part of the graph does not end the run.
#[test]
fn events_in_an_envelope() {
    let body = String::from_utf8(fixture(FORMAT, "protocol.sse")).unwrap();
    let reading = read(body.as_bytes(), 0);
    assert_eq!(texts(&reading), ["One moment.", "It rains."]);
    assert_eq!(reading.outputs[0].reasoning, "Look it up.");
    assert_eq!(reading.usage.as_ref().unwrap().total_tokens, Some(12));
    let frames: Vec<&str> = body.split_inclusive("\n\n").collect();
    let (last, rest) = frames.split_last().unwrap();
    let failed = last.replace("completed", "failed");
    let failed = read(format!("{}{failed}", rest.concat()).as_bytes(), 0);
    assert_eq!((failed.verdict, ids(&failed)), (Verdict::DidNotFinish, vec!["error-event"]));
    let after = read(format!("{body}{}", rest.last().unwrap()).as_bytes(), 0);
    assert_eq!(ids(&after), ["after-end"]);
    let other = body.replacen("\"block-delta\"", "\"data-delta\"", 1);
    assert_eq!(ids(&read(other.as_bytes(), 0)), ["not-assembled"]);
    let other = body.replacen("\"text\":\"moment.\"", "\"text\":1", 1);
    assert_eq!(ids(&read(other.as_bytes(), 0)), ["bad-field", "done-mismatch"]);
}

/// What else an envelope may hold: one method's event after a message has begun, as frame 2.
#[test]
fn envelopes_that_are_not_read() {
    let said = |method: &str, data: Value| {
        let frames = [
            ("messages", json!({"event": "message-start", "id": "a"})),
            (
                "messages",
                json!({"event": "content-block-delta", "index": 0, "delta": {"type": "text-delta", "text": "Hi"}}),
            ),
            (method, data),
            ("messages", json!({"event": "message-finish", "reason": "stop"})),
            ("lifecycle", json!({"event": "completed"})),
        ];
        let envelope = |(method, data): &(&str, Value)| {
            json!({"type": "event", "method": method, "params": {"namespace": [], "data": data}})
                .to_string()
        };
        sse(&frames.iter().map(envelope).collect::<Vec<_>>())
    };
    let near = said("messages", json!({"event": "usage", "usage": {"input_tokens": 1}}));
    let fault = |message: &str| json!({"message": message, "error_type": ""});
    told_alone(vec![
        (
            "not-assembled",
            2,
            json!({"what": "`custom:mood` events"}),
            said("custom:mood", json!({"x": 1})),
            said("tools", json!({"x": 1})),
        ),
        (
            "not-assembled",
            2,
            json!({"what": "`message-pause` of a message"}),
            said("messages", json!({"event": "message-pause"})),
            near.clone(),
        ),
        (
            "error-event",
            2,
            fault("no"),
            said("messages", json!({"event": "error", "message": "no"})),
            near.clone(),
        ),
        (
            "error-event",
            2,
            fault("the message failed"),
            said("messages", json!({"event": "error"})),
            near,
        ),
    ]);
}

/// Of values of no known shape 64 texts are told apart; a further one is named by its place.
#[test]
fn more_texts_than_are_told_apart() {
    let texts = |count: usize| {
        let text = |n| (format!("k{n:02}"), json!({"text": "x"}));
        run(&[(0..count).map(text).collect::<serde_json::Map<_, _>>().into()])
    };
    told_alone(vec![("not-assembled", 1, json!({"what": "/k64/text"}), texts(65), texts(64))]);
}

/// Objects as `LangChain` serializes its own.
#[test]
fn serialized_messages() {
    let constructor = |text: &str| {
        json!([{"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", "AIMessageChunk"],
            "kwargs": {"content": text, "id": "a"}}, {"langgraph_node": "n"}])
    };
    let reading = graph(&[
        ("messages", constructor("Hel")),
        ("messages", constructor("lo")),
        ("end", Value::Null),
    ]);
    assert_eq!((texts(&reading), ids(&reading)), (vec!["Hello"], vec![]));
    assert_eq!(response(&reading)["messages"][0]["content"], "Hello");
}

/// Reasoning that a provider adds beside the content.
#[test]
fn reasoning_beside_the_content() {
    let piece = |text: &str| json!([{"type": "AIMessageChunk", "content": "", "id": "a", "additional_kwargs": {"reasoning_content": text}}, {}]);
    let reading = graph(&[
        ("messages", piece("Hm")),
        ("messages", piece("m.")),
        ("messages", json!([chunk("Hi", "a"), {}])),
        ("end", Value::Null),
    ]);
    assert_eq!((reading.outputs[0].reasoning.as_str(), texts(&reading)), ("Hmm.", vec!["Hi"]));
    assert_eq!(response(&reading)["messages"][0]["additional_kwargs"]["reasoning_content"], "Hmm.");
}

/// `error` names the class, `message` says what happened.
#[test]
fn errors() {
    let reading = graph(&[
        ("messages", json!([chunk("Hi", "a"), {}])),
        ("error", json!({"error": "ValueError", "message": "no"})),
    ]);
    assert_eq!((reading.verdict, ids(&reading)), (Verdict::DidNotFinish, vec!["error-event"]));
    let error = reading.error.unwrap();
    assert_eq!((error.message.as_str(), error.error_type.as_deref()), ("no", Some("ValueError")));
    let rewritten = read(&fixture(FORMAT, "partial.sse"), 0);
    assert!(
        rewritten.findings.iter().any(|found| matches!(found.kind, Kind::Rewritten { at: 0, .. }))
    );
}
