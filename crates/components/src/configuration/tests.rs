//! Tables of settings.
