//! Our reading against an SDK's object, field by field.

use serde_json::{Map, Value, json};
use teeline_assembler::{End, Options, Reading, Verdict, read_all};

use super::{Outcome, Stream, parse};

/// A field as a JSON pointer, or [`Field::RAISED`].
pub type Field = String;

/// How a format's objects are made comparable.
#[derive(Clone, Copy)]
pub struct Rules {
    /// Our reading in the shape of the SDK's object.
    pub ours: fn(&Reading) -> Value,
    /// The SDK's object without what its helpers add.
    pub theirs: fn(Value) -> Value,
    /// Members whose values are the application's own: nothing in them is left out.
    pub verbatim: &'static [&'static str],
    /// The exceptions by which this SDK says that the provider sent an error, or stopped in the middle.
    pub provider_errors: &'static [&'static str],
}

/// A field in which the SDK disagrees.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Where.
    pub field: Field,
    /// What we have there; null where nothing is.
    pub ours: Value,
    /// What the SDK has there; null where nothing is. For `raised` the class and the line.
    pub theirs: Value,
}

/// Our reading of a body.
pub fn reading(stream: &Stream) -> Reading {
    let options =
        Options { content_type: Some(stream.content_type.to_owned()), ..Options::default() };
    read_all(options, [(stream.body.clone(), None)], End::Clean)
}

/// Everything in which an SDK disagrees with us about a stream.
pub fn compare(rules: &Rules, reading: &Reading, outcome: &Outcome) -> Vec<Difference> {
    let failed = reading.error.is_some();
    let mut differences = Vec::new();
    match outcome {
        Outcome::Raised(raised) => {
            let told = rules.provider_errors.contains(&raised.class.as_str());
            if !(told && (failed || reading.verdict != Verdict::Finished)) {
                let theirs = json!({ "class": raised.class, "at": raised.at });
                differences.push(Difference {
                    field: "raised".to_owned(),
                    ours: Value::Null,
                    theirs,
                });
            }
        }
        // An object that tells the failure itself is compared like any other.
        Outcome::Final(theirs) if failed && theirs["error"].is_null() => {
            differences.push(Difference {
                field: "raised".to_owned(),
                ours: json!(reading.error.as_ref().map(|error| &error.message)),
                theirs: Value::Null,
            });
        }
        Outcome::Final(theirs) => {
            let ours = without_nothing(rules, (rules.ours)(reading));
            let theirs = without_nothing(rules, (rules.theirs)(theirs.clone()));
            differences = fields(&ours, &theirs);
        }
    }
    differences
}

/// The fields in which two objects differ; null and absent are the same.
pub fn fields(ours: &Value, theirs: &Value) -> Vec<Difference> {
    let mut differences = Vec::new();
    walk(ours, theirs, String::new(), &mut differences);
    differences
}

/// The equivalent response of a reading; null where there is none.
pub fn response(reading: &Reading) -> Value {
    reading.response.as_ref().map_or(Value::Null, |response| parse(response.get()))
}

/// Members that are null are absent: which of them an SDK fills in depends on its types.
fn without_nothing(rules: &Rules, value: Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(
            members
                .into_iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(name, value)| {
                    let verbatim = rules.verbatim.contains(&name.as_str());
                    let value = if verbatim { value } else { without_nothing(rules, value) };
                    (name, value)
                })
                .collect::<Map<_, _>>(),
        ),
        Value::Array(items) => items.into_iter().map(|item| without_nothing(rules, item)).collect(),
        other => other,
    }
}

fn walk(ours: &Value, theirs: &Value, field: Field, differences: &mut Vec<Difference>) {
    match (ours, theirs) {
        (Value::Object(our_members), Value::Object(their_members)) => {
            let more = their_members.keys().filter(|name| !our_members.contains_key(*name));
            for name in our_members.keys().chain(more) {
                let field = format!("{field}/{}", name.replace('~', "~0").replace('/', "~1"));
                walk(&ours[name], &theirs[name], field, differences);
            }
        }
        (Value::Array(our_items), Value::Array(their_items)) => {
            for place in 0..our_items.len().max(their_items.len()) {
                let item = |items: &[Value]| items.get(place).cloned().unwrap_or_default();
                let field = format!("{field}/{place}");
                walk(&item(our_items), &item(their_items), field, differences);
            }
        }
        _ if same(ours, theirs) => {}
        _ => differences.push(Difference { field, ours: ours.clone(), theirs: theirs.clone() }),
    }
}

/// Equal, numbers by value: JavaScript writes `1.0` as `1` and knows no integer above 2^53, and `serde_json` may be off
/// by the last bit of a fraction.
pub(super) fn same(ours: &Value, theirs: &Value) -> bool {
    let close = |ours: f64, theirs: f64| {
        (ours - theirs).abs() <= 4.0 * f64::EPSILON * ours.abs().max(theirs.abs())
    };
    ours == theirs
        || matches!((ours.as_f64(), theirs.as_f64()), (Some(ours), Some(theirs)) if close(ours, theirs))
}
