//! A second reading of the policies, over plain numbers, and the walks that hold the check against it.

mod adapter;
mod distributions;
mod kubernetes;
mod moves;
mod paths;
mod pools;
mod states;
