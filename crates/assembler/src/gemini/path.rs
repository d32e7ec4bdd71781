//! JSON paths, as far as `partialArgs` use them: `$.a`, `$.a.b`, `$.a[0].b`, `$['x y']`.

use crate::text::write_json_str;

/// How many steps a path may have.
const DEPTH: usize = 64;

/// How far an array may reach: the numbers come from outside.
const INDEXES: usize = 1 << 16;

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// To a member.
    Key(Box<str>),
    /// To an element.
    Index(usize),
}

impl Step {
    /// Whether it leads into an object.
    pub(super) fn is_key(&self) -> bool {
        matches!(self, Self::Key(_))
    }
}

/// The steps of a path to a member, or to something in one; `None` if it is no such path.
pub(super) fn steps(path: &str) -> Option<Vec<Step>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let (step, after) = match rest.strip_prefix('.') {
            Some(name) => member(name)?,
            None => bracket(rest.strip_prefix('[')?)?,
        };
        if steps.len() == DEPTH {
            return None;
        }
        steps.push(step);
        rest = after;
    }
    // The arguments themselves are an object.
    steps.first().is_some_and(Step::is_key).then_some(steps)
}

fn member(name: &str) -> Option<(Step, &str)> {
    let (name, after) = name.split_at_checked(name.find(['.', '[']).unwrap_or(name.len()))?;
    (!name.is_empty()).then(|| (Step::Key(name.into()), after))
}

fn bracket(inner: &str) -> Option<(Step, &str)> {
    let Some(quote) = inner.chars().next().filter(|first| matches!(first, '\'' | '"')) else {
        let (index, after) = inner.split_once(']')?;
        let index = index.parse().ok().filter(|index| *index < INDEXES)?;
        return Some((Step::Index(index), after));
    };
    let mut name = String::new();
    let mut chars = inner.char_indices().skip(1);
    while let Some((at, char)) = chars.next() {
        if char == quote {
            let after = inner.get(at + 1..)?.strip_prefix(']')?;
            return Some((Step::Key(name.into()), after));
        }
        name.push(if char == '\\' { chars.next()?.1 } else { char });
    }
    None
}

/// Writes what leads from the container that step `from` is taken in to the value at the end of the path:
/// brackets, keys, and `null` for holes, `holes` of them before the first step if it is to an element.
pub(super) fn write(steps: &[Step], from: usize, holes: usize, out: &mut String) {
    for (at, step) in steps.iter().enumerate().skip(from) {
        if at > from {
            out.push(if step.is_key() { '{' } else { '[' });
        }
        match step {
            Step::Key(key) => {
                write_json_str(key, out);
                out.push(':');
            }
            Step::Index(index) => {
                let holes = if at == from { holes } else { *index };
                (0..holes).for_each(|_| out.push_str("null,"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cut_into_steps() {
        let key = |name: &str| Step::Key(name.into());
        for (path, want) in [
            ("$.a", Some(vec![key("a")])),
            ("$.a.b", Some(vec![key("a"), key("b")])),
            ("$.a[0].b", Some(vec![key("a"), Step::Index(0), key("b")])),
            ("$['x y'][2]", Some(vec![key("x y"), Step::Index(2)])),
            (r#"$["a\"]b"].c"#, Some(vec![key("a\"]b"), key("c")])),
            ("$", None),
            ("$[0]", None),
            ("", None),
            ("a", None),
            ("$.", None),
            ("$.a..b", None),
            ("$.a[", None),
            ("$.a[x]", None),
            ("$.a[70000]", None),
            ("$['a'", None),
        ] {
            assert_eq!(steps(path), want, "{path}");
        }
        assert_eq!(steps(&format!("${}", ".a".repeat(65))), None);
    }
}
