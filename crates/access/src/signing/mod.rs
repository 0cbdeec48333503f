//! Certificates for those who ask by CertificateSigningRequest: whether the well-known signers take the request,
//! whether a kubelet's is approved without a human, and the certificate itself
//! (kubernetes, pkg/controller/certificates). Who may approve by hand is the server's business.

mod certificate;
mod der;
mod request;
mod signer;
#[cfg(test)]
mod tests;

pub use self::{
    certificate::{SigningAuthority, SigningError, lifetime},
    request::{Request, RequestError},
    signer::{Signer, auto_approval},
};
