//! Tables of what defaults give.
