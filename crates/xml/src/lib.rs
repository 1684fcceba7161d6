//! XML files, and transactions on them.

pub mod command;
pub mod cursor;
pub mod declarations;
pub mod document;
pub mod dtd;
pub mod entities;
pub mod model;
pub mod path;
pub mod reduction;
pub mod transaction;
pub mod validity;

pub use cursor::SYNTAX;
