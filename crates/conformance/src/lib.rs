//! What a Kubernetes API server answers, as data: a table of HTTP exchanges (`cases/`), one of kubectl transcripts
//! (`kubectl/`), and the answers of a real kube-apiserver to them (`recorded/`). This crate runs the tables on any
//! server and compares; it must not know how a server is made, nor any rule of Kubernetes itself.
//!
//! A case holds when the server's answer agrees with what the case expects, and with the recorded answer in everything
//! that [`ignored`] does not name. Two servers whose answers both agree with the recording agree with each other.
//!
//! The expectations of a case are a pattern: objects may hold more, lists may not, and holes stand for what varies
//! (see [`pattern`]). The recording holds the rest, so that a case states only its point.

pub mod answer;
pub mod body;
pub mod canonical;
pub mod coverage;
pub mod difference;
pub mod ignored;
pub mod klog;
pub mod pattern;
pub mod recording;
pub mod run;
pub mod suite;
pub mod table;
pub mod target;
pub mod transcript;
pub mod variables;
