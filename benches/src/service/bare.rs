//! The least that answering can cost: a server of the same library that has all answers, and looks at nothing but the path.

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::serve::ListenerExt;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;

/// The word that starts it.
pub const NAME: &str = "bare";

/// What is at a path: a content type, and bytes.
type Answers = HashMap<String, (String, Bytes)>;

/// Serves the answers in a file, which is an object in JSON from paths to content types and texts, until somebody ends it.
pub fn serve(file: &Path) -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("listening at http://{}", listener.local_addr()?);
    serve_at(listener, file)
}

/// The same, where somebody already listens.
pub fn serve_at(listener: TcpListener, file: &Path) -> io::Result<()> {
    let answers: HashMap<String, (String, String)> = serde_json::from_slice(&fs::read(file)?)?;
    let answers = answers.into_iter();
    let answers: Answers = answers
        .map(|(path, (content_type, text))| (path, (content_type, text.into())))
        .collect();
    let router = Router::new().fallback(answer).with_state(Arc::new(answers));
    // As `hence serve` has it.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    listener.set_nonblocking(true)?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?.tap_io(|stream| {
            let _ = stream.set_nodelay(true);
        });
        axum::serve(listener, router).await
    })
}

async fn answer(State(answers): State<Arc<Answers>>, uri: Uri) -> Response {
    match answers.get(uri.path()) {
        Some((content_type, bytes)) => {
            let content_type = [(header::CONTENT_TYPE, content_type.as_str())];
            (content_type, bytes.clone()).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
