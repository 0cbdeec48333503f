//! Expressions that stand elsewhere than in a schema, such as those of an authentication configuration: whether an API server
//! takes one, and which fields it looks at. They are judged here and evaluated there.

use crate::cel::FreeProgram;

/// What an expression can be about.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The name in the expression.
    pub name: &'static str,
    /// What stands behind it.
    pub kind: Kind,
}

/// What stands behind a variable.
#[derive(Clone, Debug)]
pub enum Kind {
    /// Nobody knows before it is there.
    Any,
    /// A text.
    String,
    /// A list.
    List(Box<Self>),
    /// Values by a text.
    Map(Box<Self>),
    /// Exactly these fields.
    Object(Vec<(&'static str, Self)>),
}

/// What an expression must give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Anything.
    Any,
    /// True or false, and known to before it is evaluated.
    Bool,
}

/// An expression that an API server takes.
#[derive(Debug)]
pub struct Expression(FreeProgram);

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in upstream's words.
    pub fn parse(text: &str, variables: &[Variable], outcome: Outcome) -> Result<Self, String> {
        FreeProgram::compile(text, variables, outcome).map(Self)
    }

    /// Whether it looks at a field of a variable by its name.
    #[must_use]
    pub fn selects(&self, variable: &str, field: &str) -> bool {
        self.0.selects(variable, field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims() -> Vec<Variable> {
        vec![Variable {
            name: "claims",
            kind: Kind::Map(Box::new(Kind::Any)),
        }]
    }

    fn user() -> Vec<Variable> {
        let texts = Kind::List(Box::new(Kind::String));
        let fields = vec![
            ("username", Kind::String),
            ("groups", texts.clone()),
            ("extra", Kind::Map(Box::new(texts))),
        ];
        vec![Variable {
            name: "user",
            kind: Kind::Object(fields),
        }]
    }

    #[test]
    fn expressions_are_taken_or_refused_with_the_reason() {
        for (text, variables, outcome, refused) in [
            ("claims.sub", claims(), Outcome::Any, None),
            ("'corp:' + claims.sub", claims(), Outcome::Any, None),
            (
                "claims.roles.split(',') + claims[?'more'].orValue([])",
                claims(),
                Outcome::Any,
                None,
            ),
            ("claims.hd == 'example.com'", claims(), Outcome::Bool, None),
            (
                "claims.?email_verified.orValue(true) == true",
                claims(),
                Outcome::Bool,
                None,
            ),
            ("claims.sub", claims(), Outcome::Bool, Some("must evaluate to bool")),
            ("claims.", claims(), Outcome::Any, Some("compilation failed")),
            (
                "self.sub",
                claims(),
                Outcome::Any,
                Some("undeclared reference to 'self'"),
            ),
            (
                "user.username",
                claims(),
                Outcome::Any,
                Some("undeclared reference to 'user'"),
            ),
            (
                "claims.sub.matches('(')",
                claims(),
                Outcome::Bool,
                Some("compilation failed"),
            ),
            ("!user.username.startsWith('system:')", user(), Outcome::Bool, None),
            ("user.groups.all(group, group != 'root')", user(), Outcome::Bool, None),
            ("'x' in user.extra['example.com/team']", user(), Outcome::Bool, None),
            (
                "user.name == 'x'",
                user(),
                Outcome::Bool,
                Some("undefined field 'name'"),
            ),
            (
                "user.groups == 'x'",
                user(),
                Outcome::Bool,
                Some("no matching overload"),
            ),
        ] {
            let complaint = Expression::parse(text, &variables, outcome).err();
            match (&complaint, refused) {
                (None, None) => {}
                (Some(complaint), Some(part)) => assert!(complaint.contains(part), "{text}: {complaint}"),
                _ => panic!("{text}: {complaint:?}, expected {refused:?}"),
            }
        }
    }

    #[test]
    fn selected_fields_are_found_wherever_they_stand() {
        for (text, is_selected) in [
            ("claims.email", true),
            ("claims.?email.orValue('')", true),
            ("has(claims.email) ? 'a' : 'b'", true),
            ("[claims.email].join('-')", true),
            ("dyn(claims.roles).exists(role, role == claims.email)", true),
            ("{'a': claims.email}", true),
            ("claims.email_verified", false),
            ("claims.profile.email", false),
            ("claims['email']", false),
            ("'claims.email'", false),
        ] {
            let expression = Expression::parse(text, &claims(), Outcome::Any).expect(text);
            assert_eq!(expression.selects("claims", "email"), is_selected, "{text}");
        }
    }
}
