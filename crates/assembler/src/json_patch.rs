//! JSON Patch (RFC 6902) and JSON Pointer (RFC 6901) on a [`Node`].
//!
//! A patch is applied as a whole or not at all. Values stay as their source text, so that no number is
//! changed by passing through.

use crate::{equal::equal, json::Json, node::Node, text::write_json_str};

/// How many keys a pointer may have: so deep a tree is ever opened.
const DEPTH: usize = 256;

/// What a patch may not do.
type Step<T = ()> = Result<T, &'static str>;

/// Why a patch was not applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    /// The operation's place in the patch.
    pub(crate) operation: usize,
    /// What it would have to be.
    pub(crate) expected: &'static str,
}

/// The keys of a pointer.
type Path = Vec<String>;

/// What takes a change back.
enum Undo {
    Put(Path, Node),
    Take(Path),
    Insert(Path, Node),
}

/// Applies a patch. `admit` is asked before anything is copied within the document, with its bytes.
///
/// # Errors
/// The first operation that cannot be applied; the document is as it was then.
pub(crate) fn apply(
    document: &mut Node,
    patch: Json<'_>,
    admit: &mut dyn FnMut(usize) -> bool,
) -> Result<(), Refused> {
    let Some(operations) = patch.items() else {
        return Err(Refused { operation: 0, expected: "a list of operations" });
    };
    let mut undo = Vec::new();
    for (operation, json) in operations.into_iter().enumerate() {
        if let Err(expected) = step(document, json, &mut undo, admit) {
            undo.into_iter().rev().for_each(|change| change.take_back(document));
            return Err(Refused { operation, expected });
        }
    }
    Ok(())
}

fn step(
    document: &mut Node,
    json: Json<'_>,
    undo: &mut Vec<Undo>,
    admit: &mut dyn FnMut(usize) -> bool,
) -> Step {
    let operation = json.object().ok_or("an object")?;
    let path_at = |key: &str| {
        let text = operation.str(key).ok_or("an operation with its pointers")?;
        pointer(&text)
    };
    let path = path_at("path")?;
    let value = || operation.get("value").ok_or("an operation with a value");
    match &*operation.str("op").ok_or("an object with `op`")? {
        "add" => add(document, path, value()?.into(), undo),
        "remove" => remove(document, path, undo).map(drop),
        "replace" => replace(document, path, value()?.into(), undo),
        "move" => {
            let from = path_at("from")?;
            if path.len() > from.len() && path.starts_with(&from) {
                return Err("a target outside of what is moved");
            }
            let moved = remove(document, from, undo)?;
            add(document, path, moved, undo)
        }
        "copy" => {
            let from = path_at("from")?;
            let text = source(find(document, &from).ok_or("a source that exists")?);
            if !admit(text.len()) {
                return Err("a copy within the bytes that a reading holds");
            }
            add(document, path, Node::Raw(text.into_boxed_str()), undo)
        }
        "test" => {
            let text = source(find(document, &path).ok_or("a target that exists")?);
            let same = equal(Json::from_known(&text), value()?);
            same.then_some(()).ok_or("a test that the document passes")
        }
        _ => Err("`add`, `remove`, `replace`, `move`, `copy` or `test`"),
    }
}

fn add(document: &mut Node, mut path: Path, value: Node, undo: &mut Vec<Undo>) -> Step {
    let Some(last) = path.last().cloned() else {
        undo.push(Undo::Put(path, std::mem::replace(document, value)));
        return Ok(());
    };
    let parent = parent(document, &path).ok_or("a target whose parent exists")?;
    if parent.is_object() {
        let map = parent.object();
        if let Some(known) = map.get_mut(&last) {
            undo.push(Undo::Put(path, std::mem::replace(known, value)));
        } else {
            map.set(&last, value);
            undo.push(Undo::Take(path));
        }
        return Ok(());
    }
    if !parent.is_array() {
        return Err("a target in an object or an array");
    }
    let items = parent.array();
    let at = if last == "-" { Some(items.len()) } else { index(&last) };
    let at = at.filter(|at| *at <= items.len()).ok_or("an index within the array")?;
    items.insert(at, value);
    path.pop();
    path.push(at.to_string());
    undo.push(Undo::Take(path));
    Ok(())
}

/// Takes a value out, as source text.
fn remove(document: &mut Node, path: Path, undo: &mut Vec<Undo>) -> Step<Node> {
    const MISSING: &str = "a target that exists";
    let Some(last) = path.last() else {
        let whole = std::mem::replace(document, Node::null());
        let taken = Node::Raw(source(&whole).into_boxed_str());
        undo.push(Undo::Put(path, whole));
        return Ok(taken);
    };
    let parent = parent(document, &path).ok_or(MISSING)?;
    let taken = if parent.is_object() {
        parent.object().remove(last).ok_or(MISSING)?
    } else if parent.is_array() {
        let items = parent.array();
        let at = index(last).filter(|at| *at < items.len()).ok_or(MISSING)?;
        items.remove(at)
    } else {
        return Err(MISSING);
    };
    let text = source(&taken);
    undo.push(Undo::Insert(path, taken));
    Ok(Node::Raw(text.into_boxed_str()))
}

fn replace(document: &mut Node, path: Path, value: Node, undo: &mut Vec<Undo>) -> Step {
    let known = find(document, &path).ok_or("a target that exists")?;
    undo.push(Undo::Put(path, std::mem::replace(known, value)));
    Ok(())
}

impl Undo {
    fn take_back(self, document: &mut Node) {
        let mut undone = Vec::new();
        let done = match self {
            Self::Put(path, value) => replace(document, path, value, &mut undone),
            Self::Take(path) => remove(document, path, &mut undone).map(drop),
            Self::Insert(path, value) => add(document, path, value, &mut undone),
        };
        debug_assert!(done.is_ok(), "what was changed can be changed back");
    }
}

fn parent<'n>(document: &'n mut Node, path: &[String]) -> Option<&'n mut Node> {
    let (_, path) = path.split_last()?;
    find(document, path)
}

fn find<'n>(document: &'n mut Node, path: &[String]) -> Option<&'n mut Node> {
    path.iter().try_fold(document, |node, key| {
        if node.is_object() {
            node.object().get_mut(key)
        } else if node.is_array() {
            node.array().get_mut(index(key)?)
        } else {
            None
        }
    })
}

/// An array's index as RFC 6901 writes it: without zeros in front.
fn index(key: &str) -> Option<usize> {
    let is_number =
        key == "0" || (!key.starts_with('0') && key.bytes().all(|b| b.is_ascii_digit()));
    key.parse().ok().filter(|_| is_number)
}

/// The keys of a pointer, escapes undone.
fn pointer(text: &str) -> Step<Path> {
    let Some(rest) = text.strip_prefix('/') else {
        return if text.is_empty() {
            Ok(Path::new())
        } else {
            Err("a pointer that begins with `/`")
        };
    };
    let keys: Option<Path> = rest.split('/').take(DEPTH + 1).map(unescaped).collect();
    let keys = keys.ok_or("a pointer with `~0` and `~1` only")?;
    if keys.len() > DEPTH { Err("a pointer of at most 256 keys") } else { Ok(keys) }
}

fn unescaped(key: &str) -> Option<String> {
    let mut pieces = key.split('~');
    let mut out = pieces.next()?.to_owned();
    for piece in pieces {
        let (escape, rest) = piece.split_at_checked(1)?;
        out.push(match escape {
            "0" => '~',
            "1" => '/',
            _ => return None,
        });
        out.push_str(rest);
    }
    Some(out)
}

/// A node as JSON. It is opened no deeper than pointers reach.
fn source(node: &Node) -> String {
    let mut out = String::new();
    write(node, &mut out);
    out
}

fn write(node: &Node, out: &mut String) {
    let list = |items: &mut dyn Iterator<Item = &Node>, out: &mut String| {
        out.push('[');
        for (at, item) in items.enumerate() {
            if at > 0 {
                out.push(',');
            }
            write(item, out);
        }
        out.push(']');
    };
    match node {
        Node::Raw(raw) => out.push_str(raw),
        Node::Text(text) => text.write_json(out),
        Node::Array(items) => list(&mut items.iter(), out),
        Node::Slots(slots) => list(&mut slots.values(), out),
        Node::Object(map) => {
            out.push('{');
            for (at, (key, value)) in map.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_json_str(key, out);
                out.push(':');
                write(value, out);
            }
            out.push('}');
        }
        // A document to be patched holds no parts of the answer.
        Node::Part(_) | Node::PartJson(_) => out.push_str("null"),
    }
}

#[cfg(test)]
mod tests;
