//! Pages in a real browser.

mod chromium;
mod service;
mod why;
