//! The model's file: what is written is read again to the bit, what is damaged or hostile is refused.

mod damaged;
mod disk;
mod forged;
mod hostile;
mod models;
mod round_trip;
mod versions;
