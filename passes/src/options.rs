//! Options of passes: what a pass declares, and the values that a pipeline gives them.

use std::fmt;

use indexmap::IndexMap;
use regraft_syntax::OptionValue;

/// An option that a pass declares.
///
/// ```
/// use regraft_passes::OptionDef;
///
/// const OPTIONS: &[OptionDef] = &[
///     OptionDef::int("max-size", 80, "inline functions of at most so many instructions").between(1, 10_000),
///     OptionDef::flag("recursive", false, "inline recursive functions once"),
///     OptionDef::choice("order", &["layout", "dominance"], "layout", "the order of visits"),
/// ];
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OptionDef {
    /// Its name, as in the pipeline text.
    pub name: &'static str,
    /// The values that it takes.
    pub kind: OptionKind,
    /// The value that it has if the pipeline gives none.
    pub default: DefaultSetting,
    /// Its effect, in a line.
    pub doc: &'static str,
}

/// The values that an option takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OptionKind {
    /// `true` or `false`; the bare name stands for `true`.
    Flag,
    /// An integer in this range, both ends included.
    Int {
        /// The least value.
        min: i64,
        /// The greatest value.
        max: i64,
    },
    /// A number.
    Float,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Any text.
    Text,
}

/// The default of an option, in a form that can stand in a constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DefaultSetting {
    /// Of a flag.
    Flag(bool),
    /// Of an integer.
    Int(i64),
    /// Of a number.
    Float(f64),
    /// Of a choice or a text.
    Text(&'static str),
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// Of a flag.
    Flag(bool),
    /// Of an integer.
    Int(i64),
    /// Of a number.
    Float(f64),
    /// Of a choice or a text.
    Text(String),
}

impl OptionDef {
    /// An option that is on or off.
    pub const fn flag(name: &'static str, default: bool, doc: &'static str) -> Self {
        Self { name, kind: OptionKind::Flag, default: DefaultSetting::Flag(default), doc }
    }

    /// An integer option of any value that is not negative; see [`OptionDef::between`].
    pub const fn int(name: &'static str, default: i64, doc: &'static str) -> Self {
        let kind = OptionKind::Int { min: 0, max: i64::MAX };
        Self { name, kind, default: DefaultSetting::Int(default), doc }
    }

    /// A number option.
    pub const fn float(name: &'static str, default: f64, doc: &'static str) -> Self {
        Self { name, kind: OptionKind::Float, default: DefaultSetting::Float(default), doc }
    }

    /// An option that takes one of `choices`.
    pub const fn choice(
        name: &'static str,
        choices: &'static [&'static str],
        default: &'static str,
        doc: &'static str,
    ) -> Self {
        let kind = OptionKind::Choice(choices);
        Self { name, kind, default: DefaultSetting::Text(default), doc }
    }

    /// An option that takes any text.
    pub const fn text(name: &'static str, default: &'static str, doc: &'static str) -> Self {
        Self { name, kind: OptionKind::Text, default: DefaultSetting::Text(default), doc }
    }

    /// Limits an integer option to `min..=max`.
    #[must_use]
    pub const fn between(mut self, min: i64, max: i64) -> Self {
        self.kind = OptionKind::Int { min, max };
        self
    }

    /// Checks a value given by the user and brings it into the form of this option.
    ///
    /// # Errors
    /// If the option does not take it; the message says what it takes.
    pub fn check(&self, value: Setting) -> Result<Setting, String> {
        match (self.kind, value) {
            (OptionKind::Flag, value @ Setting::Flag(_))
            | (OptionKind::Float, value @ Setting::Float(_))
            | (OptionKind::Text, value @ Setting::Text(_)) => Ok(value),
            (OptionKind::Int { min, max }, Setting::Int(n)) if (min..=max).contains(&n) => {
                Ok(Setting::Int(n))
            }
            (OptionKind::Float, Setting::Int(n)) => Ok(Setting::Float(n as f64)),
            (OptionKind::Text, value) => Ok(Setting::Text(value.to_string())),
            (OptionKind::Choice(words), Setting::Text(word)) if words.contains(&&*word) => {
                Ok(Setting::Text(word))
            }
            (kind, value) => Err(format!("option `{}` takes {kind}, found {value}", self.name)),
        }
    }

    /// The default as a value.
    pub fn default_setting(&self) -> Setting {
        match self.default {
            DefaultSetting::Flag(on) => Setting::Flag(on),
            DefaultSetting::Int(n) => Setting::Int(n),
            DefaultSetting::Float(x) => Setting::Float(x),
            DefaultSetting::Text(text) => Setting::Text(text.to_owned()),
        }
    }
}

impl fmt::Display for OptionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("`true` or `false`"),
            Self::Int { min: i64::MIN, max: i64::MAX } => f.write_str("an integer"),
            Self::Int { min, max: i64::MAX } => write!(f, "an integer from {min}"),
            Self::Int { min, max } => write!(f, "an integer from {min} to {max}"),
            Self::Float => f.write_str("a number"),
            Self::Choice(words) => {
                f.write_str("one of ")?;
                for (i, word) in words.iter().enumerate() {
                    write!(f, "{}`{word}`", if i == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
            Self::Text => f.write_str("a text"),
        }
    }
}

impl Setting {
    /// The value as it is written in a pipeline.
    fn written(&self) -> OptionValue {
        match self {
            Self::Flag(on) => OptionValue::Bool(*on),
            Self::Int(n) => OptionValue::Int(*n),
            Self::Float(x) => OptionValue::Float(*x),
            Self::Text(text) if is_word(text) => OptionValue::Word(text.clone()),
            Self::Text(text) => OptionValue::Str(text.clone()),
        }
    }
}

impl fmt::Display for Setting {
    /// As in pipeline text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.written().fmt(f)
    }
}

/// Returns whether a text can stand in a pipeline without quotes.
fn is_word(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
        && !matches!(text, "true" | "false" | "inf" | "nan")
}

/// The values of the options of one pass in a pipeline: what the pipeline gives, and defaults
/// for the rest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    settings: IndexMap<&'static str, Setting>,
    /// The names that the pipeline gave, in its order.
    given: Vec<&'static str>,
}

impl Options {
    /// All defaults.
    pub fn defaults(defs: &[OptionDef]) -> Self {
        let settings = defs.iter().map(|def| (def.name, def.default_setting())).collect();
        Self { settings, given: Vec::new() }
    }

    /// Gives the option `def` a value.
    ///
    /// # Errors
    /// As [`OptionDef::check`].
    pub fn set(&mut self, def: &OptionDef, value: Setting) -> Result<(), String> {
        let value = def.check(value)?;
        self.settings.insert(def.name, value);
        if !self.given.contains(&def.name) {
            self.given.push(def.name);
        }
        Ok(())
    }

    /// The value of a flag.
    ///
    /// # Panics
    /// Here and below: if the pass declares no option of that name and kind, which is a mistake
    /// in the pass.
    #[track_caller]
    pub fn flag(&self, name: &str) -> bool {
        match self.get(name) {
            Setting::Flag(on) => *on,
            other => wrong_kind(name, "a flag", other),
        }
    }

    /// The value of an integer option.
    #[track_caller]
    pub fn int(&self, name: &str) -> i64 {
        match self.get(name) {
            Setting::Int(n) => *n,
            other => wrong_kind(name, "an integer", other),
        }
    }

    /// The value of an integer option as a size; a negative one counts as 0.
    #[track_caller]
    pub fn size(&self, name: &str) -> usize {
        usize::try_from(self.int(name)).unwrap_or(if self.int(name) < 0 { 0 } else { usize::MAX })
    }

    /// The value of a number option.
    #[track_caller]
    pub fn float(&self, name: &str) -> f64 {
        match self.get(name) {
            Setting::Float(x) => *x,
            other => wrong_kind(name, "a number", other),
        }
    }

    /// The value of a choice or a text.
    #[track_caller]
    pub fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Setting::Text(text) => text,
            other => wrong_kind(name, "a text", other),
        }
    }

    /// Returns what the pipeline gives, in its order.
    pub fn given(&self) -> impl Iterator<Item = (&'static str, &Setting)> + '_ {
        self.given.iter().map(|&name| (name, &self.settings[name]))
    }

    #[track_caller]
    fn get(&self, name: &str) -> &Setting {
        match self.settings.get(name) {
            Some(setting) => setting,
            None => panic!("the pass asks for the option `{name}`, which it does not declare"),
        }
    }
}

#[track_caller]
fn wrong_kind(name: &str, wanted: &str, found: &Setting) -> ! {
    panic!("the pass asks for the option `{name}` as {wanted}, but it is {found}")
}

impl fmt::Display for Options {
    /// As in pipeline text: `{max=8, fast}`; nothing if the pipeline gives none.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, setting)) in self.given().enumerate() {
            f.write_str(if i == 0 { "{" } else { ", " })?;
            match setting {
                Setting::Flag(true) => f.write_str(name)?,
                setting => write!(f, "{name}={setting}")?,
            }
        }
        if self.given.is_empty() { Ok(()) } else { f.write_str("}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFS: &[OptionDef] = &[
        OptionDef::int("max", 8, "").between(1, 100),
        OptionDef::flag("fast", false, ""),
        OptionDef::choice("order", &["layout", "dominance"], "layout", ""),
        OptionDef::float("ratio", 0.5, ""),
        OptionDef::text("name", "", ""),
    ];

    fn set(options: &mut Options, name: &str, value: Setting) -> Result<(), String> {
        let def = DEFS.iter().find(|def| def.name == name).expect("the option is declared");
        options.set(def, value)
    }

    #[test]
    fn what_is_not_given_has_its_default() {
        let options = Options::defaults(DEFS);
        assert_eq!(options.int("max"), 8);
        assert!(!options.flag("fast"));
        assert_eq!(options.text("order"), "layout");
        assert_eq!(options.to_string(), "");
    }

    #[test]
    fn values_are_checked_against_the_declaration() {
        let mut options = Options::defaults(DEFS);
        let error = set(&mut options, "max", Setting::Int(101)).expect_err("out of range");
        assert_eq!(error, "option `max` takes an integer from 1 to 100, found 101");
        let error =
            set(&mut options, "order", Setting::Text("random".into())).expect_err("no choice");
        assert_eq!(error, "option `order` takes one of `layout`, `dominance`, found random");
        let error = set(&mut options, "fast", Setting::Int(1)).expect_err("no flag");
        assert_eq!(error, "option `fast` takes `true` or `false`, found 1");
        assert_eq!(options.int("max"), 8, "a refused value changes nothing");
    }

    #[test]
    fn an_integer_is_a_number_too() {
        let mut options = Options::defaults(DEFS);
        set(&mut options, "ratio", Setting::Int(2)).expect("fits");
        assert_eq!(options.float("ratio"), 2.0);
    }

    #[test]
    fn given_options_print_as_pipeline_text_in_the_order_given() {
        let mut options = Options::defaults(DEFS);
        set(&mut options, "fast", Setting::Flag(true)).expect("fits");
        set(&mut options, "max", Setting::Int(3)).expect("fits");
        set(&mut options, "name", Setting::Text("a b".into())).expect("fits");
        assert_eq!(options.to_string(), "{fast, max=3, name=\"a b\"}");
    }
}
