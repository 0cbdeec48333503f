//! The types of expressions, and when one may stand for another.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::declared::DeclaredId;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Type {
    /// What a mistake has; it fits everywhere, so that one mistake is told once.
    Error,
    Dyn,
    /// Upstream's message that holds anything: as dynamic as the other, except that no comprehension runs over it.
    Any,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Duration,
    Timestamp,
    List(Arc<Type>),
    Map(Arc<Type>, Arc<Type>),
    /// An object of the schema.
    Object(DeclaredId),
    Optional(Arc<Type>),
    /// The type of a type.
    Meta(Arc<Type>),
    Url,
    Quantity,
    Semver,
    Format,
    Ip,
    Cidr,
    /// A type that is not known yet.
    Variable(u32),
}

impl Type {
    pub(super) fn list(item: Self) -> Self {
        Self::List(Arc::new(item))
    }

    pub(super) fn map(key: Self, value: Self) -> Self {
        Self::Map(Arc::new(key), Arc::new(value))
    }

    pub(super) fn optional(inner: Self) -> Self {
        match inner {
            Self::Optional(_) => inner,
            inner => Self::Optional(Arc::new(inner)),
        }
    }

    /// The name without parameters.
    pub(super) fn short_name(&self) -> String {
        let name = self.to_string();
        name.split('(').next().unwrap_or_default().to_owned()
    }

    pub(super) fn is_dyn(&self) -> bool {
        matches!(self, Self::Dyn | Self::Any)
    }

    pub(super) fn is_dyn_or_error(&self) -> bool {
        self.is_dyn() || *self == Self::Error
    }

    /// Types that upstream lets null stand for.
    fn is_nullable(&self) -> bool {
        matches!(
            self,
            Self::Object(_)
                | Self::Optional(_)
                | Self::Url
                | Self::Quantity
                | Self::Semver
                | Self::Format
                | Self::Ip
                | Self::Cidr
                | Self::Duration
                | Self::Timestamp
                | Self::Null
        )
    }

    fn parameters(&self) -> Vec<&Self> {
        match self {
            Self::List(inner) | Self::Optional(inner) | Self::Meta(inner) => vec![inner],
            Self::Map(key, value) => vec![key, value],
            _ => Vec::new(),
        }
    }
}

/// As upstream's messages name types.
impl fmt::Display for Type {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Error => "!error!",
            Self::Dyn => "dyn",
            Self::Any => "any",
            Self::Null => "null",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::String => "string",
            Self::Bytes => "bytes",
            Self::Duration => "duration",
            Self::Timestamp => "timestamp",
            Self::List(item) => return write!(formatter, "list({item})"),
            Self::Map(key, value) => return write!(formatter, "map({key}, {value})"),
            // Upstream makes up a new name at every compilation.
            Self::Object(_) => "selfType",
            Self::Optional(inner) => return write!(formatter, "optional_type({inner})"),
            Self::Meta(inner) => return write!(formatter, "type({inner})"),
            Self::Url => "kubernetes.URL",
            Self::Quantity => "kubernetes.Quantity",
            Self::Semver => "kubernetes.Semver",
            Self::Format => "kubernetes.NamedFormat",
            Self::Ip => "net.IP",
            Self::Cidr => "net.CIDR",
            Self::Variable(number) => return write!(formatter, "_var{number}"),
        };
        formatter.write_str(name)
    }
}

/// What variables stand for.
#[derive(Clone, Debug, Default)]
pub(super) struct Mapping(BTreeMap<u32, Type>);

impl Mapping {
    /// Whether values of the first type can be used where the second is wanted; learns about variables on the way.
    pub(super) fn assign(&mut self, first: &Type, second: &Type) -> bool {
        let mut tried = self.clone();
        if tried.is_assignable(first, second) {
            *self = tried;
            return true;
        }
        false
    }

    /// As [`Self::assign`] for all of a list or none.
    pub(super) fn assign_all(&mut self, first: &[Type], second: &[Type]) -> bool {
        let mut tried = self.clone();
        let fits = first.len() == second.len()
            && first
                .iter()
                .zip(second)
                .all(|(first, second)| tried.is_assignable(first, second));
        if fits {
            *self = tried;
        }
        fits
    }

    fn is_assignable(&mut self, first: &Type, second: &Type) -> bool {
        if let Type::Variable(number) = second {
            let (is_valid, is_known) = self.substitute_variable(first, *number);
            if is_valid {
                return true;
            }
            if is_known {
                return false;
            }
        }
        if let Type::Variable(number) = first {
            return self.substitute_variable(second, *number).0;
        }
        if first.is_dyn_or_error() || second.is_dyn_or_error() {
            return true;
        }
        match (first, second) {
            (Type::Null, other) | (other, Type::Null) => other.is_nullable(),
            (Type::Meta(_), Type::Meta(_)) => true,
            (Type::List(first), Type::List(second)) | (Type::Optional(first), Type::Optional(second)) => {
                self.is_assignable(first, second)
            }
            (Type::Map(first_key, first_value), Type::Map(second_key, second_value)) => {
                self.is_assignable(first_key, second_key) && self.is_assignable(first_value, second_value)
            }
            _ => first == second,
        }
    }

    /// Whether the variable can stand for the type, and whether it stood for something before.
    fn substitute_variable(&mut self, wanted: &Type, variable: u32) -> (bool, bool) {
        if *wanted == Type::Variable(variable) {
            return (true, true);
        }
        if let Some(known) = self.0.get(&variable).cloned() {
            if *wanted == known {
                return (true, true);
            }
            if self.is_assignable(wanted, &known) {
                let general = most_general(wanted, &known);
                if self.is_free_of(variable, &general) {
                    self.0.insert(variable, general);
                }
                return (true, true);
            }
            return (false, true);
        }
        if self.is_free_of(variable, wanted) {
            self.0.insert(variable, wanted.clone());
            return (true, false);
        }
        (false, false)
    }

    fn is_free_of(&self, variable: u32, within: &Type) -> bool {
        match within {
            Type::Variable(number) if *number == variable => false,
            Type::Variable(number) => self.0.get(number).is_none_or(|known| self.is_free_of(variable, known)),
            other => other
                .parameters()
                .into_iter()
                .all(|part| self.is_free_of(variable, part)),
        }
    }

    /// The type with all known variables replaced; unknown ones become dynamic if `is_final`.
    pub(super) fn substitute(&self, kind: &Type, is_final: bool) -> Type {
        match kind {
            Type::Variable(number) => match self.0.get(number) {
                Some(known) => self.substitute(known, is_final),
                None if is_final => Type::Dyn,
                None => kind.clone(),
            },
            Type::List(item) => Type::list(self.substitute(item, is_final)),
            Type::Map(key, value) => Type::map(self.substitute(key, is_final), self.substitute(value, is_final)),
            Type::Optional(inner) => Type::Optional(Arc::new(self.substitute(inner, is_final))),
            Type::Meta(inner) => Type::Meta(Arc::new(self.substitute(inner, is_final))),
            other => other.clone(),
        }
    }
}

/// The more general of two types that fit each other.
pub(super) fn most_general(first: &Type, second: &Type) -> Type {
    if is_equal_or_less_specific(first, second) {
        first.clone()
    } else {
        second.clone()
    }
}

fn is_equal_or_less_specific(first: &Type, second: &Type) -> bool {
    match (first, second) {
        (Type::Dyn | Type::Any | Type::Variable(_), _) | (Type::Meta(_), Type::Meta(_)) => true,
        (_, Type::Dyn | Type::Any | Type::Variable(_)) => false,
        (Type::List(first), Type::List(second)) | (Type::Optional(first), Type::Optional(second)) => {
            is_equal_or_less_specific(first, second)
        }
        (Type::Map(first_key, first_value), Type::Map(second_key, second_value)) => {
            is_equal_or_less_specific(first_key, second_key) && is_equal_or_less_specific(first_value, second_value)
        }
        _ => first == second,
    }
}
