//! Labels of what is installed: by them it is found, and told from what others made.

use serde_json::{Value, json};

use crate::{options::NAMESPACE, program::Program};

/// On everything that is installed.
pub(crate) const PART_OF: &str = "app.kubernetes.io/part-of";
/// Which program it belongs to.
const COMPONENT: &str = "app.kubernetes.io/component";
/// What the program is called.
const NAME: &str = "app.kubernetes.io/name";

/// Labels of what belongs to no program in particular.
pub(crate) fn common() -> Value {
    json!({PART_OF: NAMESPACE})
}

/// Labels of what belongs to a program.
pub(crate) fn of(program: Program) -> Value {
    json!({PART_OF: NAMESPACE, NAME: NAMESPACE, COMPONENT: program.account()})
}

/// What selects everything that belongs to the manager, of whichever installation.
pub fn operator_selector() -> String {
    format!("{PART_OF}={NAMESPACE},{COMPONENT}={}", Program::Operator.account())
}

/// What selects the pods of a program. It can never change.
pub(crate) fn selector(program: Program) -> Value {
    json!({NAME: NAMESPACE, COMPONENT: program.account()})
}
