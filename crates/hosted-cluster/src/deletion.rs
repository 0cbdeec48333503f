//! The end of a cluster: an ordered saga that begins anew in every run and passes what is finished. What comes next is a
//! pure function of what remains; it says what it waits for.

mod carry_out;
mod look;
mod order;
mod workers;

pub(crate) use self::{
    carry_out::carry_out,
    look::look,
    order::{Step, Unanswered, is_given_up, is_without_machines, next},
};

#[cfg(test)]
pub(crate) use self::order::Facts;
#[cfg(test)]
mod tests;
