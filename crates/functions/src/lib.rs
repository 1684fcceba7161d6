//! Functions that users write for their configurations.
