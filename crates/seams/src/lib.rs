//! What would make a run unrepeatable, as parameters: time ([`Clock`]) and chance ([`Random`],
//! [`Entropy`]); and the [`Identity`] that
//! an in-process request carries where a real one would carry credentials. Everything on the ground shares these types;
//! they know nothing of it.

mod clock;
mod entropy;
mod identity;
mod random;

pub use clock::Clock;
pub use entropy::Entropy;
pub use identity::{Identity, InvalidIdentity};
pub use random::Random;
